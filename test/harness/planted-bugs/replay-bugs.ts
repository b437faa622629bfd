import type { TestedBug } from './planted-bug.ts';

const COMPARISON = 'libs/stages/test/replay/comparison.test.ts';
const QUIET_EVENTS = 'libs/stages/test/replay/quiet-events.test.ts';
const SENDING = 'apps/control/test/send-missing.test.ts';
const QUESTIONS = 'apps/control/test/sending-questions.test.ts';
const SEARCH = 'apps/control/test/why-not-search.test.ts';

/** Bugs of comparisons, of sending missing messages, and of searches. */
export const REPLAY_BUGS: Readonly<Record<string, TestedBug>> = {
  'the job is left out of the id of a trigger': {
    changes: [
      {
        file: 'libs/stages/src/replay/sent-messages.ts',
        from: 'const run = { runId: sentBy.job, states: null };',
        to: 'const run = { runId: null, states: null };',
      },
    ],
    tests: [SENDING],
  },
  'a slot is looked up by the new unique_id alone': {
    changes: [
      {
        file: 'apps/control/src/runs/find-missing.ts',
        from: 'row.oldSlot === null ? [slot] : [slot, row.oldSlot];',
        to: '[slot, ...(row.oldSlot === null ? [] : [])];',
      },
    ],
    tests: ['apps/control/test/find-missing.test.ts'],
  },
  'the first event of a slot is the one that is read first': {
    changes: [
      {
        file: 'libs/stages/src/replay/join-slots.ts',
        from: 'if (known.at !== line.at) return known.at < line.at ? known : line;',
        to: 'if (known.at !== line.at) return known;',
      },
    ],
    tests: [COMPARISON],
  },
  'a page is repeated after a kill': {
    changes: [
      {
        file: 'apps/cli/src/replay/compare-history.ts',
        from: 'scratch.commit({ lines, lookups, met, checkpoint: JSON.stringify(state) });',
        to: 'scratch.commit({ lines, lookups, met, checkpoint: JSON.stringify(begun) });',
      },
    ],
    tests: ['apps/cli/src/replay/compare-history.test.ts'],
  },
  'the answer of another trigger is used': {
    changes: [
      {
        file: 'apps/cli/src/replay/answers.ts',
        from: 'JSON.stringify([ruleId, eventId, part]);',
        to: 'JSON.stringify([ruleId, void eventId, part]);',
      },
    ],
    tests: ['apps/cli/src/replay/answers.test.ts'],
  },
  'the search takes escaped text for plain text': {
    changes: [
      {
        file: 'libs/stages/src/replay/find-text.ts',
        from: "(bytes.includes('\\\\') ? escaped : plain).test(bytes)",
        to: '(void escaped, plain).test(bytes)',
      },
    ],
    tests: ['libs/stages/test/replay/find-text.test.ts'],
  },
  'a comparison decides a condition on escaped text': {
    changes: [
      {
        file: 'libs/domain/src/events/json-reader-fields.ts',
        from: 'code !== QUOTE && code !== BACKSLASH',
        to: 'code !== QUOTE && (void BACKSLASH, true)',
      },
    ],
    tests: [QUIET_EVENTS],
  },
  'a comparison passes over events on which a rule fails': {
    changes: [
      {
        file: 'libs/stages/src/replay/quiet-events.ts',
        from: 'return outcome === NOT_FIRED || outcome === OTHER_CHANGE || outcome === DISABLED;',
        to: "return (void DISABLED, outcome !== null && outcome.kind !== 'fired');",
      },
    ],
    tests: [QUIET_EVENTS],
  },
  'a sending job evaluates by the newest configuration': {
    changes: [
      {
        file: 'apps/control/src/jobs/kinds/send-missing.ts',
        from: 'const pinned = await ports.configuration.at(Number(configuration));',
        to: 'const pinned = (void configuration, ports.configuration.current());',
      },
    ],
    tests: [SENDING],
  },
  'a restore calls off what is sent after it': {
    changes: [
      {
        file: 'libs/stages/src/deliver/custody-stage.ts',
        from: 'if (sentBy) return calledOffJobs?.has(sentBy.job) === true;',
        to: 'if (sentBy && calledOffJobs?.has(sentBy.job) === true) return true;',
      },
    ],
    tests: ['libs/stages/test/deliver/custody.test.ts'],
  },
  'a row keeps a name': {
    changes: [
      {
        file: 'libs/stages/src/replay/lines.ts',
        from: "person: ids.keyed('run person', message.placed.workspace, message.person),",
        to: 'person: message.person,',
      },
    ],
    tests: [COMPARISON],
  },
  'a checksum covers positions': {
    changes: [
      {
        file: 'libs/stages/src/replay/checksum.ts',
        from: "  'eventId',\n  'ruleId',",
        to: "  'eventId',\n  'position',\n  'ruleId',",
      },
    ],
    tests: ['libs/stages/test/replay/comparison-laws.test.ts'],
  },
  'a sending job does not wait for the engine': {
    changes: [
      {
        file: 'apps/control/src/jobs/kinds/send-missing.ts',
        from: 'await waitForReaders(EVALUATION, ports, stop);',
        to: 'await waitForReaders(ANSWERS.slice(1), ports, stop);',
      },
    ],
    tests: [QUESTIONS],
  },
  'a question that is open forbids no message': {
    changes: [
      {
        file: 'apps/control/src/runs/sending-checks.ts',
        from: "if (state === 'open') {",
        to: "if (state === ('asked' as string)) {",
      },
    ],
    tests: [QUESTIONS],
  },
  'a search knows one letter case': {
    changes: [
      {
        file: 'libs/stages/src/replay/find-text.ts',
        from: 'return [point, ...(capitals.get(String.fromCodePoint(point)) ?? [])];',
        to: 'return [point];',
      },
    ],
    tests: ['libs/stages/test/replay/find-text.test.ts'],
  },
  'a search finds events of other workspaces': {
    changes: [
      {
        file: 'apps/cli/src/replay/find-text.ts',
        from: "headers['workspace'] !== workspace ||",
        to: "headers['workspace'] === (void workspace, '') ||",
      },
    ],
    tests: ['apps/cli/src/replay/find-text.server.test.ts'],
    lane: 'server',
  },
  'the text of a search outlives it': {
    changes: [
      {
        file: 'apps/control/src/runs/remove-texts.ts',
        from: 'return job ? hasEnded(job) : !isStarting(run, clock.now());',
        to: 'return job ? false && hasEnded(job) : !isStarting(run, clock.now());',
      },
    ],
    tests: [SEARCH],
  },
  'a search answers a question about another text': {
    changes: [
      {
        file: 'apps/control/src/routes/deliveries/why-not-question.ts',
        from: 'if (run.textHash === textHashOf({ workspace, text: who }, ports)) return run;',
        to: "if (textHashOf({ workspace, text: who }, ports) !== '') return run;",
      },
    ],
    tests: [SEARCH],
  },
  'a search hides the events that it did not keep': {
    changes: [
      {
        file: 'apps/control/src/routes/deliveries/why-not.ts',
        from: '(counts?.found ?? 0) - MAX_FOUND_EVENTS',
        to: '0 * (counts?.found ?? 0) - MAX_FOUND_EVENTS',
      },
    ],
    tests: [SEARCH],
  },
  'a redrive ignores sending jobs that have not ended': {
    changes: [
      {
        file: 'apps/control/src/runs/sent-by-jobs.ts',
        from: 'others.find((job) => !hasEnded(job))',
        to: 'others.find((job) => !hasEnded(job) && job.endedAt !== null)',
      },
    ],
    tests: ['apps/control/test/redriving.test.ts'],
  },
  'a sending job begins while a letter is being redriven': {
    changes: [
      {
        file: 'apps/control/src/jobs/kinds/send-missing.ts',
        from: "await withRedriveLease(job.workspace ?? '', stop, ports, async () => undefined);",
        to: 'void withRedriveLease;',
      },
    ],
    tests: [QUESTIONS],
  },
  'a redrive ignores questions of sending jobs': {
    changes: [
      {
        file: 'apps/control/src/runs/sent-by-jobs.ts',
        from: "if (state === 'open') {",
        to: "if (state === ('asked' as string)) {",
      },
    ],
    tests: ['apps/control/test/redriving.test.ts'],
  },
};
