"""What a JobSet may say: jobset.x-k8s.io/v1alpha2, without fields that we do not write.

Written from kubernetes-sigs/jobset, api/jobset/v1alpha2/jobset_types.go and its CRD:
names, types, enumerations and limits. Unknown fields are refused, as `kubectl apply`
with strict validation refuses them. The inside of a Job belongs to Kubernetes and is
not described.
"""

_LABEL = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$'  # RFC 1123


def _describe(required: tuple[str, ...], **properties) -> dict:
    return {
        'type': 'object',
        'properties': properties,
        'required': list(required),
        'additionalProperties': False,
    }


def _list_of(items: dict, **limits) -> dict:
    return {'type': 'array', 'items': items, **limits}


_TEXT = {'type': 'string'}
_FLAG = {'type': 'boolean'}
_COUNT = {'type': 'integer', 'minimum': 0, 'maximum': 2**31 - 1}
_NAME = {'type': 'string', 'pattern': _LABEL, 'maxLength': 63}
_TEXTS = {'type': 'object', 'additionalProperties': _TEXT}
_METADATA = _describe(
    (), name=_NAME, namespace=_NAME, labels=_TEXTS, annotations=_TEXTS
)

_ACTIONS = [
    'FailJobSet',
    'RestartJobSet',
    'RestartJobSetAndIgnoreMaxRestarts',
    'RestartJob',
    'RestartJobAndIgnoreMaxRestarts',
]
_REASONS = [  # of a batch/v1 Job's condition Failed
    'BackoffLimitExceeded',
    'DeadlineExceeded',
    'FailedIndexes',
    'MaxFailedIndexesExceeded',
    'PodFailurePolicy',
]
_RULE = _describe(
    ('name', 'action'),
    name={'type': 'string', 'pattern': '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$'},
    action={'enum': _ACTIONS},
    onJobFailureReasons=_list_of({'enum': _REASONS}, uniqueItems=True),
    targetReplicatedJobs=_list_of(_NAME),
)
_REPLICATED_JOB = _describe(
    ('name', 'template'),
    name=_NAME,
    replicas=_COUNT,
    template=_describe(('spec',), metadata=_METADATA, spec={'type': 'object'}),
)

JOBSET = _describe(
    ('apiVersion', 'kind', 'metadata', 'spec'),
    apiVersion={'const': 'jobset.x-k8s.io/v1alpha2'},
    kind={'const': 'JobSet'},
    metadata=_METADATA | {'required': ['name']},
    spec=_describe(
        ('replicatedJobs',),
        replicatedJobs=_list_of(_REPLICATED_JOB, minItems=1),
        network=_describe(
            (),
            enableDNSHostnames=_FLAG,
            publishNotReadyAddresses=_FLAG,
            subdomain=_NAME,
        ),
        failurePolicy=_describe(
            (),
            maxRestarts=_COUNT,
            restartStrategy={
                'enum': ['Recreate', 'BlockingRecreate', 'InPlaceRestart']
            },
            rules=_list_of(_RULE),
        ),
        successPolicy=_describe(
            ('operator',),
            operator={'enum': ['All', 'Any']},
            targetReplicatedJobs=_list_of(_NAME),
        ),
        suspend=_FLAG,
        ttlSecondsAfterFinished=_COUNT,
    ),
)
