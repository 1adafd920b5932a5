"""Sessions of Copilot CLI: events.jsonl."""

import os

from .item import Chain, lines_of, parsed


def recognizes(path, first):
    return isinstance(first, dict) and "data" in first and "." in str(first.get("type"))


def read(paths):
    return [chain for path in sorted(paths) for chain in Reader(path).read() if chain.items]


class Reader:
    def __init__(self, path):
        self.path, self.name = path, os.path.basename(path)
        self.main = Chain("main")
        self.sides, self.of_call = {}, {}

    def read(self):
        for number, event in lines_of(self.path):
            self.event(event, event.get("data") or {}, f"{self.name}:{number}")
        return [self.main, *dict.fromkeys(self.sides.values())]

    def chain(self, event, data):
        """Events of a sub-agent carry its id, or that of the call that started it."""
        for key in (event.get("agentId"), data.get("parentToolCallId")):
            if key in self.sides:
                return self.sides[key]
        return self.main

    def event(self, event, data, where):
        kind, chain = event.get("type"), self.chain(event, data)
        if kind == "session.start":
            self.main.name = str(data.get("sessionId"))
        elif kind == "subagent.started":
            side = Chain(f"{self.main.name}/{data.get('agentName')}", is_sub_agent=True)
            for key in (event.get("agentId"), data.get("toolCallId")):
                if key:
                    self.sides[key] = side
            started_by = self.of_call.get(data.get("toolCallId"), self.main).calls.get(data.get("toolCallId"))
            if started_by and isinstance(started_by.args, dict):
                side.add("prompt", started_by.args.get("prompt"), where, required=False)
        elif kind == "user.message":
            if data.get("source") in (None, "user"):
                chain.add("prompt", data.get("content"), where)
            else:
                chain.note(data.get("content"), where, required=False)
        elif kind == "assistant.reasoning":
            chain.add("thinking", data.get("content"), where)
        elif kind == "assistant.message":
            chain.add("thinking", data.get("reasoningText"), where)
            chain.add("answer", data.get("content"), where)
            for request in data.get("toolRequests") or []:
                self.call(chain, request.get("toolCallId"), request.get("name"), request.get("arguments"), where)
        elif kind in ("tool.execution_start", "tool.user_requested"):
            self.call(chain, data.get("toolCallId"), data.get("toolName"), data.get("arguments"), where)
        elif kind == "tool.execution_complete":
            self.result(chain, data, where)
        elif kind in ("session.error", "session.info", "session.warning"):
            chain.note(data.get("message"), where, required=kind == "session.error")
        elif kind == "session.compaction_complete":
            chain.note(data.get("summaryContent"), where)

    def call(self, chain, id, name, args, where):
        if id not in self.of_call:
            self.of_call[id] = chain
            chain.call(id, name, parsed(args), where)

    def result(self, chain, data, where):
        chain = self.of_call.get(data.get("toolCallId"), chain)
        result, error = data.get("result"), data.get("error")
        forms = []
        for given in (result, error):
            if isinstance(given, str):
                forms.append(given)
            elif isinstance(given, dict):
                keys = ("content", "text_result_for_llm", "textResultForLlm", "detailedContent", "message")
                forms += [given[key] for key in keys if isinstance(given.get(key), str) and given[key].strip()]
        if forms:
            chain.result(data.get("toolCallId"), forms[0], where, also=forms[1:])
