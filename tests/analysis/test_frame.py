"""A committed table of members is read as it was written, whatever its texts are."""

import pandas as pd
import pytest

from analysis import frame
from analysis.tables.text import format_csv
from anchorjax.errors import UserError


@pytest.mark.parametrize('name', ['007', 'nan', '1e3', 'True', 'NA', 'phase'])
def test_the_name_of_a_run_is_a_text(tmp_path, name):
    members = pd.DataFrame(
        {'run': [name, name], 'seed': [0, 1], 'converged': [True, False]}
    )
    path = tmp_path / 'members.csv'
    path.write_text(format_csv(members))
    pd.testing.assert_frame_equal(frame.read_csv(path), members, check_dtype=False)


@pytest.mark.parametrize('row', ['a,zero,True', 'a,0,', 'a,,True', 'a,0.5,True'])
def test_what_is_no_seed_or_flag_is_refused_in_one_line(tmp_path, row):
    path = tmp_path / 'members.csv'
    path.write_text(f'run,seed,converged\n{row}\n')
    with pytest.raises(UserError, match=r'members\.csv: cannot be read as CSV'):
        frame.read_csv(path)
