"""Takes the picture of the playground in the README, from a written report.

python -m tests.support.pages.playground_picture --report runs/phase/report.html \\
    --out analysis/gallery/playground.png
"""

import argparse
import base64
import pathlib

from tests.support.pages.browser import Page, open_browser

WIDTH, HEIGHT = 1040, 900
# By default: the unseen pair; eight anchors, both pairs unseen, against four anchors,
# the exception trained.
ASKED = (
    'ask=60+4+3+66'
    '&a.num_anchors=8&a.exception=unseen&a.gamma=0.2&a.seed=0'
    '&b.num_anchors=4&b.exception=trained&b.gamma=1&b.seed=0'
)
BOX = """(() => {
  const section = document.querySelector('#try');
  const { x, y, width, height } = section.getBoundingClientRect();
  const edge = 20;
  return { x: x + scrollX - edge, y: y + scrollY, width: width + 2 * edge,
    height: height + edge, scale: 1 };
})()"""


def take_picture(tab: Page, url: str, path: pathlib.Path) -> None:
    """Writes the section of the playground as a PNG."""
    tab.resize(WIDTH, HEIGHT, 'light')
    tab.open(url)
    tab.wait('document.querySelector(".answer-line")')
    box = tab.value(BOX)
    shot = tab.send('Page.captureScreenshot', captureBeyondViewport=True, clip=box)
    path.write_bytes(base64.b64decode(shot['data']))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--report', type=pathlib.Path, required=True)
    parser.add_argument('--out', type=pathlib.Path, required=True)
    parser.add_argument('--asked', default=ASKED, help='the fragment of the address')
    flags = parser.parse_args()
    with open_browser() as tab:
        take_picture(tab, f'{flags.report.resolve().as_uri()}#{flags.asked}', flags.out)


if __name__ == '__main__':
    main()
