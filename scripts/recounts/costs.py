#!/usr/bin/env python3
"""Counts what recordings cost, by day and model and by sub-agent.

    costs.py PRICES recording AGENT FILE...     from the recordings themselves
    costs.py PRICES log BY_DAY BY_SUB_AGENT     from what `annals cost --json` said by day and model, and by sub-agent

Both print the same table. It shares nothing with the program: the recordings are read by what their formats say, the
prices from the table's file, and the sums are made here. What docs/costs.md says of rounding holds here, too: what one
chain of a session used of one model in a quarter of an hour is priced together and rounded once.
"""

import datetime
import json
import sqlite3
import sys
import tomllib
from collections import Counter, defaultdict, namedtuple
from decimal import ROUND_HALF_UP, Decimal

import opencode_messages

SORTS = ("uncached_input", "cache_read", "cache_write", "cache_write_1h", "output", "reasoning")
SEARCHES = "web_searches"
Used = namedtuple("Used", "session chain model at counts usd")
UTC = datetime.timezone.utc


def counts(**of):
    return {sort: of.get(sort) or 0 for sort in (*SORTS, SEARCHES)}


def lines(name):
    with open(name, encoding="utf-8", errors="replace") as file:
        for text in file:
            try:
                line = json.loads(text)
            except ValueError:
                continue
            if isinstance(line, dict):
                yield line


def moment(text):
    at = datetime.datetime.fromisoformat(text.replace("Z", "+00:00")) if text else datetime.datetime.fromtimestamp(0, UTC)
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def claude(names):
    """A message is on several lines, and in several files: the last line of it counts, once, where it was first."""
    messages, sides = {}, {}
    for line in (line for name in names for line in lines(name)):
        within = (line.get("data") or {}) if isinstance(line.get("data"), dict) else {}
        side = None
        if within.get("type") == "agent_progress" and isinstance(within.get("message"), dict):
            side = within.get("agentId")
            line = {**line, **within["message"], "sessionId": line.get("sessionId")}
        elif line.get("isSidechain"):
            side = line.get("agentId") or sides.get(line.get("parentUuid")) or line.get("uuid")
            sides[line.get("uuid")] = side
        message = line.get("message") or {}
        usage = message.get("usage") if isinstance(message, dict) else None
        if line.get("type") != "assistant" or not usage or message.get("model") == "<synthetic>":
            continue
        id = message.get("id") or line.get("uuid")
        first = messages.get(id)
        if first and first.session != line.get("sessionId"):
            continue
        hour = (usage.get("cache_creation") or {}).get("ephemeral_1h_input_tokens")
        used = counts(
            uncached_input=usage.get("input_tokens"), cache_read=usage.get("cache_read_input_tokens"),
            cache_write=usage.get("cache_creation_input_tokens"), cache_write_1h=hour, output=usage.get("output_tokens"),
            web_searches=(usage.get("server_tool_use") or {}).get("web_search_requests"))
        at = moment(line.get("timestamp"))
        model = message.get("model")
        name = model
        for field, value, ending in (("speed", "fast", "-fast"), ("service_tier", "batch", "-batch"), ("inference_geo", "us", "-us")):
            name += ending if usage.get(field) == value else ""
        messages[id] = Used(line.get("sessionId"), side, name, at, used, line.get("costUSD"))
        apart = defaultdict(Counter)
        for step in usage.get("iterations") or []:
            if step.get("type") in ("advisor_message", "compaction"):
                apart[step.get("model") or model].update({
                    "uncached_input": step.get("input_tokens") or 0, "cache_read": step.get("cache_read_input_tokens") or 0,
                    "cache_write": step.get("cache_creation_input_tokens") or 0, "output": step.get("output_tokens") or 0})
        for other, more in apart.items():
            messages[id, other] = Used(line.get("sessionId"), side, other, at, counts(**more), None)
    return messages.values()


def codex(names):
    """Totals of a session, which only grow; the model is that of the turn."""
    for name in names:
        session, side, model, before, turns = name, None, None, Counter(), {}
        turn = None
        for line in lines(name):
            payload = line.get("payload") or {}
            if line.get("type") == "session_meta":
                session = payload.get("id") or session
            if line.get("type") == "turn_context":
                model, turn = payload.get("model") or model, payload.get("turn_id") or line.get("timestamp")
            info = payload.get("info") if payload.get("type") == "token_count" else None
            total = (info or {}).get("total_token_usage")
            if not total:
                continue
            now = Counter({key: value for key, value in total.items() if isinstance(value, int)})
            more, before = now - before, now
            known = turns.setdefault(turn, [counts(), None])
            cached = more["cached_input_tokens"]
            known[0]["uncached_input"] += more["input_tokens"] - cached
            known[0]["cache_read"] += cached
            known[0]["output"] += more["output_tokens"]
            known[0]["reasoning"] += more["reasoning_output_tokens"]
            known[1] = moment(line.get("timestamp"))
        for used, at in turns.values():
            yield Used(session, side, model, at, used, None)


def gemini(names):
    for name in names:
        text = open(name, encoding="utf-8").read()
        try:
            records = [json.loads(text)]
        except ValueError:
            records = list(lines(name))
        found = {}
        for record in records:
            record = record.get("$set", record)
            for message in record.get("messages", [record] if "id" in record else []):
                found[message["id"]] = message
        for message in found.values():
            tokens = message.get("tokens")
            if not tokens:
                continue
            cached, thoughts = tokens.get("cached") or 0, tokens.get("thoughts") or 0
            used = counts(
                uncached_input=(tokens.get("input") or 0) - cached + (tokens.get("tool") or 0), cache_read=cached,
                output=(tokens.get("output") or 0) + thoughts, reasoning=thoughts)
            yield Used(name, None, message.get("model"), moment(message.get("timestamp")), used, None)


def opencode(names):
    for name in names:
        for session, parent, _, is_person, message, parts in opencode_messages.messages(name):
            steps = [part for part in parts if part["type"] == "step-finish" and part.get("tokens")]
            for step in [] if is_person else steps or [message]:
                tokens = step.get("tokens") or {}
                cache, reasoning = tokens.get("cache") or {}, tokens.get("reasoning") or 0
                output = tokens.get("output") or 0
                without = (tokens.get("input") or 0) + output + (cache.get("read") or 0) + (cache.get("write") or 0)
                used = counts(
                    uncached_input=tokens.get("input"), cache_read=cache.get("read"), cache_write=cache.get("write"),
                    output=output if tokens.get("total") == without else output + reasoning, reasoning=reasoning)
                if not any(used.values()):
                    continue
                at = datetime.datetime.fromtimestamp(message["time"]["created"] / 1000, UTC)
                model = f"{message.get('providerID')}/{message.get('modelID')}"
                yield Used(parent or session, bool(parent) and session, model, at, used, step.get("cost"))


def openhands(names):
    """Totals of each use of a model, or the tokens of each response."""
    totals, responses = {}, {}
    for name in names:
        text = open(name, encoding="utf-8").read()
        events = json.loads(text) if text.lstrip().startswith("[") else list(lines(name))
        for event in events:
            at = moment(event.get("timestamp"))
            if event.get("kind") == "ConversationStateUpdateEvent" and event.get("key") == "stats":
                for use, metrics in event["value"]["usage_to_metrics"].items():
                    usage = metrics["accumulated_token_usage"]
                    totals[use] = Used(name, None, metrics["model_name"], at, prompt(usage), metrics.get("accumulated_cost"))
            response = (event.get("tool_call_metadata") or {}).get("model_response")
            if response:
                usage = response["usage"]
                details = usage.get("prompt_tokens_details") or {}
                usage["cache_read_tokens"] = usage.get("cache_read_input_tokens", details.get("cached_tokens"))
                usage["cache_write_tokens"] = usage.get("cache_creation_input_tokens")
                responses[response["id"]] = Used(name, None, response["model"], at, prompt(usage), None)
    return (totals or responses).values()


def prompt(usage):
    read, write = usage.get("cache_read_tokens") or 0, usage.get("cache_write_tokens") or 0
    return counts(
        uncached_input=(usage.get("prompt_tokens") or 0) - read - write, cache_read=read, cache_write=write,
        output=usage.get("completion_tokens"), reasoning=usage.get("reasoning_tokens"))


def swe_agent(names):
    """The totals of a run. Those of runs whose responses have tokens of their own are not read here."""
    for name in names:
        run = json.load(open(name, encoding="utf-8"))
        stats = (run.get("info") or {}).get("model_stats") or {} if isinstance(run, dict) else {}
        used = counts(uncached_input=stats.get("tokens_sent"), output=stats.get("tokens_received"))
        yield Used(name, None, None, moment(None), used, stats.get("instance_cost"))


def atif(names):
    for name in names:
        yield from trajectory(json.load(open(name, encoding="utf-8")), name, None)


def trajectory(document, session, side):
    model = (document.get("agent") or {}).get("model_name")
    for step in document["steps"]:
        metrics = step.get("metrics")
        if not metrics or step.get("is_copied_context"):
            continue
        extra = metrics.get("extra") or {}
        cached, written = metrics.get("cached_tokens") or 0, extra.get("cache_creation_input_tokens") or 0
        used = counts(
            uncached_input=max(0, (metrics.get("prompt_tokens") or 0) - cached - written), cache_read=cached,
            cache_write=written, cache_write_1h=extra.get("cache_creation_1h_input_tokens"),
            output=metrics.get("completion_tokens"), reasoning=extra.get("reasoning_tokens"))
        yield Used(session, side, step.get("model_name") or model, moment(step.get("timestamp")), used, metrics.get("cost_usd"))
    for inner in document.get("subagent_trajectories") or []:
        yield from trajectory(inner, session, inner.get("session_id") or id(inner))


def copilot_chat(names):
    """Requests. An agent below another one is a sub-agent, and so is a request that names the session beside it."""
    of = "span_id, trace_id, parent_span_id, chat_session_id, conversation_id, response_model, end_time_ms"
    tokens = "input_tokens, cached_tokens, output_tokens, reasoning_tokens"
    attribute = "SELECT value FROM span_attributes WHERE span_id = ? AND key = ?"
    for name in names:
        database = sqlite3.connect(f"file:{name}?mode=ro&immutable=1", uri=True)
        above = {id: (up, kind) for id, up, kind in database.execute("SELECT span_id, parent_span_id, operation_name FROM spans")}
        for row in database.execute(f"SELECT {of}, {tokens} FROM spans WHERE operation_name = 'chat'"):
            span, trace, up, session, conversation, model, at, input, cached, output, reasoning = row
            beside = database.execute(attribute, [span, "copilot_chat.parent_chat_session_id"]).fetchone()
            written = database.execute(attribute, [span, "gen_ai.usage.cache_creation.input_tokens"]).fetchone()
            written = int(written[0]) if written else 0
            side = f"{trace}/{span}" if session is None and up is None and beside else None
            while up in above and side is None:
                further, kind = above[up]
                side = up if kind == "invoke_agent" and further else None
                up = further
            used = counts(
                uncached_input=(input or 0) - (cached or 0) - written, cache_read=cached, cache_write=written,
                output=output, reasoning=reasoning)
            at = datetime.datetime.fromtimestamp(at / 1000, UTC)
            yield Used(session or (beside and beside[0]) or conversation, side, model, at, used, None)


def cursor(names):
    """No transcript has tokens."""
    return []


AGENTS = {
    "claude": claude, "codex": codex, "gemini": gemini, "opencode": opencode, "openhands": openhands,
    "swe-agent": swe_agent, "atif": atif, "copilot-chat": copilot_chat, "cursor": cursor,
}


def price_of(prices, model, day):
    valid = [price for price in prices["price"] if model in price["models"] and price["from"] <= day]
    return max(valid, key=lambda price: price["from"], default=None)


def micros(price, used):
    """What tokens cost, and how many of them have no price."""
    if price is None:
        return 0, sum(used[sort] for sort in ("uncached_input", "cache_read", "cache_write", "output"))
    hour = min(used["cache_write_1h"], used["cache_write"])
    parts = (
        ("input", used["uncached_input"]), ("cache_read", used["cache_read"]),
        ("cache_write", used["cache_write"] - hour), ("cache_write_1h", hour), ("output", used["output"]))
    known = sum(Decimal(str(price[name])) * tokens for name, tokens in parts if name in price)
    unpriced = sum(tokens for name, tokens in parts if name not in price)
    searches = used[SEARCHES] * Decimal(str(price.get("web_search", 0))) * 1000
    return int(known.quantize(Decimal(1), ROUND_HALF_UP)) + int(searches.quantize(Decimal(1), ROUND_HALF_UP)), unpriced


def of_recordings(prices, agent, names):
    cells, paid = defaultdict(Counter), defaultdict(int)
    for used in AGENTS[agent](names):
        if not any(used.counts.values()) and not used.usd:
            continue
        quarter = int(used.at.timestamp()) // 900
        cell = (used.session, used.chain or None, used.model, quarter)
        cells[cell].update(used.counts)
        if used.usd:
            paid[cell] += int((Decimal(str(used.usd)) * 1_000_000).quantize(Decimal(1), ROUND_HALF_UP))
    table, chains = Counter(), defaultdict(Counter)
    for cell, used in cells.items():
        session, chain, model, quarter = cell
        day = datetime.datetime.fromtimestamp(quarter * 900, UTC).date().isoformat()
        cost, unpriced = micros(price_of(prices, model, day), used)
        add(table, day, model, {**used, "computed": cost, "unpriced": unpriced, "recorded": paid[cell]})
        chains[session, chain].update(computed=cost, total=total(used))
    for (session, chain), own in chains.items():
        below = [other for (of, side), other in chains.items() if of == session and side and not chain]
        with_all = {key: own[key] + sum(other[key] for other in below) for key in ("computed", "total")}
        add_chain(table, bool(chain), own, with_all)
    return table


def total(used):
    return sum(used[sort] for sort in ("uncached_input", "cache_read", "cache_write", "output"))


def add(table, day, model, of):
    for sort, count in of.items():
        table[f"{day} {model or '(unknown)'} {sort}"] += count


def add_chain(table, is_side, own, with_all):
    depth = "sub-agent" if is_side else "session"
    name = f"{depth} of {own['total']} tokens and {own['computed']} millionths"
    table[f"{name}, with sub-agents {with_all['total']} and {with_all['computed']}"] += 1


def of_log(by_day, by_sub_agent):
    table = Counter()
    days, agents = (json.load(open(name, encoding="utf-8")) for name in (by_day, by_sub_agent))
    for row in days["rows"]:
        of = {sort: row[f"{sort}_tokens"] for sort in SORTS} | {SEARCHES: row[SEARCHES]}
        of |= {"computed": row["computed_micros"], "unpriced": row["unpriced_tokens"]}
        of["recorded"] = row["recorded_usd_micros"] or 0
        add(table, row["by"]["day"], row["by"]["model"], of)
    check_parts(agents, days["total"])
    for row in agents["rows"]:
        keys = {"total": "total_tokens", "computed": "computed_micros"}
        own, with_all = ({key: of[name] for key, name in keys.items()} for of in (row, row["with_sub_agents"]))
        if row["usages"]:
            add_chain(table, row["depth"] > 0, own, with_all)
    return table


def check_parts(agents, total):
    """Each task with its sub-agents is the sum of its parts, and all of them are the total."""
    keys = [key for key in total if key not in ("recorded_usd_micros",)]
    rows = agents["rows"]
    for index, row in enumerate(rows):
        parts = [row]
        for other in rows[index + 1:]:
            if other["depth"] <= row["depth"]:
                break
            parts.append(other)
        for key in keys:
            if sum(part[key] for part in parts) != row["with_sub_agents"][key]:
                sys.exit(f"{row['by']}: {key} of it and its sub-agents is not the sum of the parts")
    for key in keys:
        if sum(row[key] for row in rows) != total[key] or agents["total"][key] != total[key]:
            sys.exit(f"{key} of the rows is not that of the total")


def main(arguments):
    if len(arguments) < 4:
        sys.exit(__doc__)
    with open(arguments[0], "rb") as file:
        prices = tomllib.load(file)
    if arguments[1] == "recording" and arguments[2] in AGENTS:
        table = of_recordings(prices, arguments[2], arguments[3:])
    elif arguments[1] == "log" and len(arguments) == 4:
        table = of_log(arguments[2], arguments[3])
    else:
        sys.exit(__doc__)
    for name, count in sorted(table.items()):
        if count:
            print(f"{count:>16}  {name}")


main(sys.argv[1:])
