"""The JobSet for TPUs: Kubernetes accepts what it says, and bad flags are one line."""

import pytest

from anchorjax.errors import EXIT_PREEMPTED, EXIT_USER_ERROR
from tests.support import in_process

yaml = pytest.importorskip('yaml')

FLAGS = {
    'name': 'phase',
    'image': 'europe-docker.pkg.dev/project/anchorjax:1',
    'shards': '4',
    'accelerator': 'tpu-v5-lite-podslice',
    'topology': '2x4',
    'hosts': '2',
    'chips_per_host': '4',
    'claim': 'runs',
}
WORDS = ['--config', 'tests/support/tiny.py', '--workdir', '/runs/tiny']


@pytest.fixture
def print_jobset(monkeypatch, capsys):
    """A function that runs the command with some flags changed."""

    def run(words=WORDS, **changes) -> in_process.Said:
        flags = FLAGS | changes
        line = [f'--{name}={value}' for name, value in flags.items()]
        return in_process.run('jobset.py', [*line, '--', *words], monkeypatch, capsys)

    return run


@pytest.fixture
def jobset(print_jobset) -> dict:
    code, out, errors = print_jobset()
    assert code == 0, errors
    return yaml.safe_load(out)


def get_job(jobset: dict) -> dict:
    return jobset['spec']['replicatedJobs'][0]['template']['spec']


def get_container(jobset: dict) -> dict:
    return get_job(jobset)['template']['spec']['containers'][0]


def test_its_jobs_are_jobs_of_kubernetes(jobset):
    validate = pytest.importorskip('kubernetes_validate')
    job = {'apiVersion': 'batch/v1', 'kind': 'Job', 'metadata': {'name': 'a'}}
    validate.validate(job | {'spec': get_job(jobset)}, '1.34', strict=True)
    get_container(jobset)['unknown'] = 1
    with pytest.raises(validate.ValidationError):
        validate.validate(job | {'spec': get_job(jobset)}, '1.34', strict=True)


def test_each_job_gets_its_shard_from_its_own_index(jobset):
    container = get_container(jobset)
    assert jobset['spec']['replicatedJobs'][0]['replicas'] == 4
    assert container['args'][:4] == ['python', '-u', 'launch/sweep.py', '--config']
    assert '--shard=$(SHARD)/4' in container['args']
    paths = {}
    for variable in container['env']:
        paths[variable['name']] = variable['valueFrom']['fieldRef']['fieldPath']
    assert paths['SHARD'] == "metadata.annotations['jobset.sigs.k8s.io/job-index']"


@pytest.mark.parametrize('hosts, chips, backoff', [(2, 4, 0), (1, 8, 5)])
def test_the_hosts_of_a_slice_are_one_program(print_jobset, hosts, chips, backoff):
    _, out, _ = print_jobset(hosts=hosts, chips_per_host=chips, retries=5)
    jobset = yaml.safe_load(out)
    job, container = get_job(jobset), get_container(jobset)
    assert job['parallelism'] == job['completions'] == hosts
    assert job['backoffLimit'] == backoff
    assert ('--distributed' in container['args']) == (hosts > 1)
    assert container['resources']['limits'] == {'google.com/tpu': str(chips)}
    assert jobset['spec']['failurePolicy']['maxRestarts'] == 5


def test_preemptions_are_not_failures_and_bad_input_is_final(jobset):
    *on_codes, on_disruption = get_job(jobset)['podFailurePolicy']['rules']
    actions = {}
    for rule in on_codes:
        (code,) = rule['onExitCodes']['values']
        actions[code] = rule['action']
    assert actions == {EXIT_PREEMPTED: 'Ignore', EXIT_USER_ERROR: 'FailJob'}
    assert on_disruption['onPodConditions'][0]['type'] == 'DisruptionTarget'


@pytest.mark.parametrize(
    'changes, expected',
    [
        ({'name': 'Phase_1'}, "--name = 'Phase_1': must be a letter"),
        ({'shards': 0}, '--shards = 0'),
        ({'shards': 100_000}, '--shards = 100000: must be from 1 to 99999'),
        ({'topology': '2by4'}, "--topology = '2by4'"),
        ({'topology': '4x4'}, '--hosts * --chips_per_host = 8: must be 16'),
        ({'mount': 'runs'}, 'inside --mount=runs'),
        ({'words': [*WORDS[:2], '--workdir=/runs/../tmp/x']}, 'inside --mount=/runs'),
        ({'words': [*WORDS, '--shard=0/4']}, '--shard after --'),
    ],
)
def test_bad_flags_are_one_line_and_exit_code_2(print_jobset, changes, expected):
    code, out, errors = print_jobset(**changes)
    assert (code, out) == (2, '')
    assert len(errors.splitlines()) == 1 and expected in errors
