"""What schemathesis does to a case before it asks: who asks, and places that are there, so that more is met than 404."""

import itertools
import json
import os
import random

import schemathesis

GIVEN = json.loads(os.environ["CARILLON_API_CASES"])
# One token has a rate, which is not what is asked about here.
TOKENS = itertools.cycle(GIVEN["tokens"])
CHANCE = random.Random(GIVEN["seed"])
# A stream without an end is no answer.
LIVE = "/v1/workspaces/{workspace}/live"
# What is there has to stay for the cases after it: a number from before anything was made removes nothing.
REMOVAL = "/v1/workspaces/{workspace}/remove"
BACKUPS = ("/v1/backup", "/v1/backups")


def known(path, name):
    """A value of a parameter that is there; None: nobody knows one."""
    for part, values in GIVEN["places"]:
        if part in path and name in values:
            return CHANCE.choice(values[name])
    return None


@schemathesis.hook
def before_call(context, case, kwargs):
    case.headers["Authorization"] = "Bearer " + next(TOKENS)
    for name in list(case.path_parameters or {}):
        there = known(case.path, name)
        if there is not None and CHANCE.random() < 0.75:
            case.path_parameters[name] = there
    if case.path == LIVE:
        case.query["for"] = "50ms"
    if case.path == REMOVAL and isinstance(case.body, dict) and isinstance(case.body.get("number"), int):
        case.body["number"] = min(case.body["number"], 0)
    if case.path in BACKUPS and isinstance(case.body, dict) and str(case.body.get("file", "")).startswith("/"):
        case.body["file"] = "{}/{}.carillon".format(GIVEN["folder"], CHANCE.getrandbits(64))
