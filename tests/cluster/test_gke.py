"""The JobSet for TPUs: what it says is what Kubernetes accepts, and bad flags are one line."""

import copy

import pytest

from anchorjax import cli
from anchorjax.cluster import gke
from tests.support import in_process, jobset_schema

jsonschema = pytest.importorskip('jsonschema')
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
def printed(monkeypatch, capsys):
    """A function: changed flags and words -> (exit code, output, errors) of the command."""

    def run(words=WORDS, **changes) -> in_process.Said:
        flags = [f'--{k}={v}' for k, v in (FLAGS | changes).items()]
        return in_process.run('jobset.py', [*flags, '--', *words], monkeypatch, capsys)

    return run


@pytest.fixture
def made(printed) -> dict:
    code, out, errors = printed()
    assert code == 0, errors
    return yaml.safe_load(out)


def job_of(made: dict) -> dict:
    return made['spec']['replicatedJobs'][0]['template']['spec']


def container_of(made: dict) -> dict:
    return job_of(made)['template']['spec']['containers'][0]


def test_the_jobset_has_the_fields_of_the_api_and_no_others(made):
    jsonschema.validate(made, jobset_schema.JOBSET)
    for path in ((), ('spec',), ('spec', 'network'), ('spec', 'failurePolicy')):
        broken = node = copy.deepcopy(made)
        for name in path:
            node = node[name]
        node['unknown'] = 1
        with pytest.raises(jsonschema.ValidationError, match='unknown'):
            jsonschema.validate(broken, jobset_schema.JOBSET)


@pytest.mark.parametrize('version', ['1.31', '1.34'])
def test_its_jobs_are_jobs_of_kubernetes(made, version):
    validate = pytest.importorskip('kubernetes_validate')
    job = {
        'apiVersion': 'batch/v1',
        'kind': 'Job',
        'metadata': {'name': 'a'},
        'spec': job_of(made),
    }
    validate.validate(job, version, strict=True)
    job_of(made)['template']['spec']['containers'][0]['unknown'] = 1
    with pytest.raises(validate.ValidationError):
        validate.validate(job, version, strict=True)


def test_each_job_gets_its_shard_from_its_own_index(made):
    container = container_of(made)
    assert made['spec']['replicatedJobs'][0]['replicas'] == 4
    assert container['args'][:4] == ['python', '-u', 'launch/sweep.py', '--config']
    assert '--shard=$(SHARD)/4' in container['args']
    shard = next(e for e in container['env'] if e['name'] == 'SHARD')
    path = shard['valueFrom']['fieldRef']['fieldPath']
    assert path == "metadata.annotations['jobset.sigs.k8s.io/job-index']"


@pytest.mark.parametrize('hosts, chips, backoff', [(2, 4, 0), (1, 8, 5)])
def test_the_hosts_of_a_slice_are_one_program(printed, hosts, chips, backoff):
    _, out, _ = printed(hosts=hosts, chips_per_host=chips, retries=5)
    made = yaml.safe_load(out)
    job, container = job_of(made), container_of(made)
    assert (job['parallelism'], job['completions'], job['backoffLimit']) == (
        hosts,
        hosts,
        backoff,
    )
    assert ('--distributed' in container['args']) == (hosts > 1)
    assert container['resources']['limits'] == {'google.com/tpu': str(chips)}
    assert made['spec']['failurePolicy']['maxRestarts'] == 5


def test_preemptions_are_not_failures_and_bad_input_is_final(made):
    rules = job_of(made)['podFailurePolicy']['rules']
    codes = {
        r['onExitCodes']['values'][0]: r['action'] for r in rules if 'onExitCodes' in r
    }
    assert codes == {cli.EXIT_PREEMPTED: 'Ignore', cli.EXIT_USER_ERROR: 'FailJob'}
    assert (gke.SAVED, gke.REFUSED) == (cli.EXIT_PREEMPTED, cli.EXIT_USER_ERROR)
    assert rules[2]['onPodConditions'][0]['type'] == 'DisruptionTarget'
    assert job_of(made)['template']['spec']['restartPolicy'] == 'Never'


def test_dollars_of_the_user_stay_dollars(printed):
    _, out, errors = printed([*WORDS[:2], '--workdir=/runs/a$(HOME)b'])
    assert '--workdir=/runs/a$$(HOME)b' in container_of(yaml.safe_load(out))['args'], (
        errors
    )


@pytest.mark.parametrize(
    'changes, expected',
    [
        ({'name': 'Phase_1'}, "--name = 'Phase_1'"),
        ({'name': 'a' * 46}, '--name'),
        ({'name': 'phase-'}, '--name'),
        ({'image': 'a b'}, "--image = 'a b'"),
        ({'shards': 0}, '--shards = 0'),
        ({'shards': 'x'}, "argument --shards: invalid int value: 'x'"),
        ({'topology': '2by4'}, "--topology = '2by4'"),
        ({'topology': '4x4'}, '--hosts * --chips_per_host = 8: must be 16'),
        ({'accelerator': 'TPU v5'}, "--accelerator = 'TPU v5'"),
        ({'claim': 'my_runs'}, "--claim = 'my_runs'"),
        ({'mount': 'runs'}, '--mount'),
        ({'retries': -1}, '--retries = -1'),
        (
            {'words': ['--config', 'tests/support/tiny.py']},
            '--workdir None: must be given',
        ),
        ({'words': [*WORDS, '--shard=0/4']}, '--shard after --'),
        ({'words': [*WORDS, '--config.train.num_stesp=3']}, 'num_stesp'),
        ({'words': ['--config', 'no.py', '--workdir', '/runs/a']}, 'no.py'),
    ],
)
def test_bad_flags_are_one_line_and_exit_code_2(printed, changes, expected):
    code, out, errors = printed(**changes)
    assert (code, out) == (2, '')
    assert len(errors.splitlines()) == 1 and expected in errors
