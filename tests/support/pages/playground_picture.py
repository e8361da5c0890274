"""Takes the picture of the playground in the README, from a written report.

python -m tests.support.pages.playground_picture --report runs/phase/report.html \\
    --out analysis/gallery/playground.png
"""

import argparse
import pathlib

from tests.support.pages.browser import open_browser

WINDOW = {'width': 1040, 'height': 900}
ASKED = 'ask=60+4+3+66'  # the unseen pair, of the networks that the page shows first


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--report', type=pathlib.Path, required=True)
    parser.add_argument('--out', type=pathlib.Path, required=True)
    parser.add_argument('--asked', default=ASKED, help='the fragment of the address')
    flags = parser.parse_args()
    with open_browser() as browser:
        tab = browser.new_page(viewport=WINDOW, color_scheme='light')
        tab.goto(f'{flags.report.resolve().as_uri()}#{flags.asked}')
        tab.wait_for_selector('.answer-line')
        tab.locator('#try').screenshot(path=flags.out)


if __name__ == '__main__':
    main()
