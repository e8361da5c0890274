"""Baselines that answer PrOntoQA without the proof (DATASETS 4.3).

In the original data the distractor's concept occurs in no other sentence, so the rule
about a concept that does recur is the right one.
"""

from anchorjax.tasks.prontoqa.sentences import Question, Statement, parse


def guess_by_recurrence(question: Question) -> bool:
    """Trusts the rule whose concept occurs most often; of equals the first."""
    statements = _parse_all((*question.rules, question.premise))

    def count_mentions(rule: Statement) -> int:
        number = 0
        for statement in statements:
            number += rule.subject in (statement.subject, statement.predicate)
        return number

    candidates = _find_candidates(question)
    trusted = max(candidates, key=count_mentions)
    return trusted.is_true == parse(question.query).is_true


def guess_by_distance(question: Question) -> bool:
    """Trusts the rule that is closest to one about the concept of the premise."""
    known = parse(question.premise).predicate
    places, starts = {}, []
    for place, rule in enumerate(_parse_all(question.rules)):
        places[rule] = place
        if rule.subject == known:
            starts.append(place)

    def measure_distance(rule: Statement) -> int:
        return min(abs(places[rule] - start) for start in starts)

    trusted = min(_find_candidates(question), key=measure_distance)
    return trusted.is_true == parse(question.query).is_true


def _find_candidates(question: Question) -> list[Statement]:
    """The rules about the property that is asked for."""
    asked = parse(question.query).predicate
    return [rule for rule in _parse_all(question.rules) if rule.predicate == asked]


def _parse_all(sentences: tuple[str, ...]) -> list[Statement]:
    return [parse(sentence) for sentence in sentences]
