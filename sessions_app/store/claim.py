"""Taking a queued turn, with everything needed to run it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from django.db import IntegrityError, transaction

from sessions_app.conf import conf
from sessions_app.domain.budget import Allowance, Limit
from sessions_app.domain.outcome import NOT_BEGUN, Progress
from sessions_app.domain.policy import payable
from sessions_app.domain.prompt import PromptMessage, ToolChoice, ToolSpec
from sessions_app.domain.route import Candidate, TurnWork
from sessions_app.domain.transcript import with_summary
from sessions_app.models import Agent, Turn
from sessions_app.store import budgets, sql
from sessions_app.store.catalog import AgentPlan, candidates_of, plan_of, tools
from sessions_app.store.messages import prompt_of, reply_of
from sessions_app.store.progress import booked, progress_of
from sessions_app.store.turns import first_open


class QueuedTurn(NamedTuple):
    """What a claim reads, in the order of its query."""

    session_id: str
    ordinal: int
    fence: int
    allow_failover: bool
    cancel_requested: bool
    asked_ordinal: int | None
    agent_id: int
    route: str | list[str]
    system_prompt: str
    next_n: int
    client_tools: str | list[dict[str, Any]]
    tool_choice: str | dict[str, str]
    is_budgeted: bool
    summary: str
    summary_to: int
    operator: str
    with_raw: bool


WorkOf = Callable[[str, QueuedTurn], TurnWork]


def claim(turn_id: str, worker: str) -> TurnWork | None:
    """Take a queued turn whose session is free; None if it is not to be had."""
    return _claimed(turn_id, worker, _work_of)


def claim_unreadable(turn_id: str, worker: str) -> TurnWork | None:
    """Take a queued turn whose rows ``claim`` cannot read, with what its end needs."""
    return _claimed(turn_id, worker, _bare_work_of)


def _claimed(turn_id: str, worker: str, work_of: WorkOf) -> TurnWork | None:
    try:
        with transaction.atomic():
            return _claim(turn_id, worker, work_of)
    except IntegrityError:  # another turn of the session was claimed meanwhile
        return None


def _claim(turn_id: str, worker: str, work_of: WorkOf) -> TurnWork | None:
    turn = _queued(turn_id)
    if turn is None or first_open(turn.session_id) != turn_id:
        return None
    claimed = sql.change(
        "UPDATE sessions_app_turn SET state = 'running', fence = fence + 1,"
        f" worker = %s, started_at = {sql.now()}, lease_until = {sql.lease_end()}"
        " WHERE id = %s AND state = 'queued' AND fence = %s AND operator = %s",
        worker,
        turn_id,
        turn.fence,
        turn.operator,  # whom the turn is for may have changed since it was read
    )
    return work_of(turn_id, turn) if claimed else None


def _queued(turn_id: str) -> QueuedTurn | None:
    found = sql.rows(
        "SELECT t.session_id, t.ordinal, t.fence, t.allow_failover,"
        " t.cancel_requested, m.ordinal, s.agent_id, s.route, s.system_prompt,"
        " t.next_n, t.client_tools, t.tool_choice, t.is_budgeted,"
        " s.summary, s.summary_to, t.operator, t.with_raw"
        " FROM sessions_app_turn t"
        " JOIN sessions_app_session s ON s.id = t.session_id"
        " LEFT JOIN sessions_app_message m ON m.id = t.user_message_id"
        " WHERE t.id = %s AND t.state = 'queued'",
        turn_id,
    )
    return QueuedTurn(*found[0]) if found else None


def reserve_for(turn_id: str, limits: Sequence[tuple[Limit, str]]) -> None:
    """Set aside what the turn that was just accepted may use up, by its limits.

    Raises BudgetExceeded, and so undoes the transaction that accepts it.
    """
    turn = _queued(turn_id)
    assert turn is not None
    budgets.reserve(_work_of(turn_id, turn._replace(is_budgeted=True)), limits)


def _work_of(turn_id: str, turn: QueuedTurn) -> TurnWork:
    """What the claim that was just made is to do."""
    plan = plan_of(turn.agent_id)
    allowances = budgets.allowances_of(turn_id) if turn.is_budgeted else ()
    asked = turn.asked_ordinal
    return TurnWork(
        turn_id=turn_id,
        session_id=turn.session_id,
        ordinal=turn.ordinal,
        fence=turn.fence + 1,
        agent=plan.slug,
        candidates=_candidates(turn, plan, allowances),
        prompt=_prompt(turn, plan),
        tools=plan.tools,
        stored_tools=tools.get() if plan.tools else {},
        client_tools=tuple(
            ToolSpec(each["name"], each["description"], each["inputSchema"])
            for each in sql.decoded(turn.client_tools)
        ),
        tool_choice=ToolChoice(**sql.decoded(turn.tool_choice)),
        is_streaming_rounds=plan.is_streaming_rounds,
        progress=_progress(turn_id, turn),
        canned_reply=plan.canned_reply,
        # What is reserved counts only if the reply can be no longer.
        max_output_tokens=plan.max_output_tokens
        or (conf().budget_output_tokens if turn.is_budgeted else None),
        allowances=allowances,
        is_budgeted=bool(turn.is_budgeted),
        temperature=plan.temperature,
        has_memory=plan.memory,
        is_again=asked is not None and asked < turn.ordinal,
        is_cancelled=bool(turn.cancel_requested),
        with_raw=bool(turn.with_raw),
        operator=turn.operator,
        spoken=reply_of(turn_id) if turn.operator else "",
    )


def _progress(turn_id: str, turn: QueuedTurn) -> Progress:
    """What is left of earlier claims, also of one that was put back."""
    return progress_of(turn_id) if turn.fence else NOT_BEGUN


def _bare_work_of(turn_id: str, turn: QueuedTurn) -> TurnWork:
    """The same without what may be the fault: prompt, route, tools and progress."""
    agents = Agent.objects.filter(pk=turn.agent_id)
    slug, canned_reply = agents.values_list("slug", "canned_reply").get()
    has_deltas = Turn.objects.filter(pk=turn_id, has_deltas=True).exists()
    return TurnWork(
        turn_id=turn_id,
        session_id=turn.session_id,
        ordinal=turn.ordinal,
        fence=turn.fence + 1,
        agent=slug,
        candidates=(),
        prompt=(),
        # That anything was shown decides how the turn ends, and not what it was.
        progress=Progress(
            next_n=turn.next_n,
            attempts=booked(turn_id),
            shown=("",) if has_deltas else (),
        ),
        canned_reply=canned_reply,
        is_budgeted=bool(turn.is_budgeted),
        operator=turn.operator,
        is_unreadable=True,
    )


def _prompt(turn: QueuedTurn, plan: AgentPlan) -> tuple[PromptMessage, ...]:
    """What the turn's model is told."""
    system_prompts = (plan.system_prompt, turn.system_prompt)
    asked = turn.asked_ordinal
    has_tools = bool(plan.tools or sql.decoded(turn.client_tools))
    prompt = prompt_of(
        turn.session_id,
        turn.ordinal if asked is None else asked,
        "\n\n".join(text for text in system_prompts if text),
        after=turn.summary_to if plan.memory else 0,
        with_tools=has_tools,
    )
    return tuple(with_summary(prompt, turn.summary) if plan.memory else prompt)


def _candidates(
    turn: QueuedTurn, plan: AgentPlan, allowances: Sequence[Allowance]
) -> tuple[Candidate, ...]:
    """Whom the turn may ask, and its budgets can count."""
    route = sql.decoded(turn.route) or plan.route
    candidates = candidates_of(route, plan.context_tokens)
    if not turn.allow_failover:
        candidates = candidates[:1]
    if allowances:
        candidates = payable(candidates, [each.limit for each in allowances])
    return candidates
