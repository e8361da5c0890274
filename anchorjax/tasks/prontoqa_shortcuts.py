"""Baselines that answer PrOntoQA without the proof (DATASETS 4.3).

In the original data the distractor's concept occurs in no other sentence, so the rule
about a concept that does recur is the right one.
"""

from anchorjax.tasks.prontoqa_sentences import Question, Statement, parse


def guess_by_recurrence(question: Question) -> bool:
    """Trusts the rule whose concept occurs most often; of equals the first."""
    statements = [parse(sentence) for sentence in (*question.rules, question.premise)]

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
    start = parse(question.premise).predicate
    places, starts = {}, []
    for place, sentence in enumerate(question.rules):
        rule = parse(sentence)
        places[rule] = place
        if rule.subject == start:
            starts.append(place)

    def measure_distance(rule: Statement) -> int:
        distances = [abs(places[rule] - place) for place in starts]
        return min(distances, default=0)

    trusted = min(_find_candidates(question), key=measure_distance)
    return trusted.is_true == parse(question.query).is_true


def _find_candidates(question: Question) -> list[Statement]:
    """The rules about the property that is asked for."""
    asked = parse(question.query).predicate
    rules = [parse(sentence) for sentence in question.rules]
    return [rule for rule in rules if rule.predicate == asked]
