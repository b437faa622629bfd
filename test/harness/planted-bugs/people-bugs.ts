import type { TestedBug } from './planted-bug.ts';

const CONTROL = 'apps/control/src';
const TESTS = 'apps/control/test';

/** Bugs of people, drafts and the audit. */
export const PEOPLE_BUGS: Readonly<Record<string, TestedBug>> = {
  'a draft is published whatever it began from': {
    changes: [
      {
        file: `${CONTROL}/drafts/publish-drafts.ts`,
        from: "const lost = drafts.filter((draft) => stateOf(draft, current) === 'conflict');",
        to: "const lost = drafts.filter((draft) => stateOf(draft, current) === ('lost' as string));",
      },
      {
        file: `${CONTROL}/drafts/publish-drafts.ts`,
        from: "const open = drafts.filter((draft) => stateOf(draft, current) === 'open');",
        to: "const open = drafts.filter((draft) => stateOf(draft, current) !== 'published');",
      },
    ],
    tests: [`${TESTS}/draft-laws.test.ts`],
  },
  'a resource is written whatever its author has seen': {
    changes: [
      {
        file: `${CONTROL}/resources/preconditions.ts`,
        from: 'if (!met) throw lostRace(ref, now, history);',
        to: 'void met;',
      },
    ],
    tests: [`${TESTS}/history-laws.test.ts`],
  },
  'a record of the audit comes after the answer': {
    changes: [
      {
        file: `${CONTROL}/audit/hook.ts`,
        from: '      await end(request, reply);\n',
        to: '      setTimeout(() => void end(request, reply).catch(() => undefined), 20);\n',
      },
    ],
    tests: [`${TESTS}/audit.test.ts`],
  },
  'a change is made before the audit says that it was begun': {
    changes: [
      {
        file: `${CONTROL}/audit/hook.ts`,
        from: '    await auditing.start();\n',
        to: '    void auditing.start().catch(() => undefined);\n',
      },
    ],
    tests: [`${TESTS}/audit.test.ts`],
  },
  'a session outlives the password': {
    changes: [
      {
        file: `${CONTROL}/access/access.ts`,
        from: "person.state === 'active' && person.epoch === epoch;",
        to: "person.state === 'active' && epoch >= 0;",
      },
    ],
    tests: [`${TESTS}/people-access.test.ts`],
  },
  'whole addresses are in the live stream of a viewer': {
    changes: [
      {
        file: `${CONTROL}/routes/operations/live.ts`,
        from: "if (principal.may('bodies', row.workspace)) return row.text;",
        to: 'if (row.workspace !== null) return row.text;',
      },
    ],
    tests: [`${TESTS}/live.test.ts`],
  },
  'a row that somebody may see whole is kept for those who may not': {
    changes: [
      {
        file: `${CONTROL}/routes/operations/live.ts`,
        from: "if (principal.may('bodies', row.workspace)) return row.text;",
        to: "if (principal.may('bodies', row.workspace)) masked.set(row, row.text);",
      },
    ],
    tests: [`${TESTS}/live.test.ts`],
  },
  'a cursor of the audit repeats a row': {
    changes: [
      {
        file: `${CONTROL}/audit/list.ts`,
        from: 'return { items, next: row.position + 1 };',
        to: 'return { items, next: row.position + 2 };',
      },
    ],
    tests: [`${TESTS}/audit.test.ts`],
  },
  'a cursor of a list that is read whole repeats a row': {
    changes: [{ file: `${CONTROL}/whole-lists.ts`, from: 'place > cursor', to: 'place >= cursor' }],
    tests: [`${CONTROL}/whole-lists.test.ts`],
  },
  'duplicates of an event stand on two pages': {
    changes: [
      {
        file: `${CONTROL}/deliveries-listed.ts`,
        from: 'before: oldest ?? from?.before ?? null,',
        to: 'before: from?.before ?? null,',
      },
    ],
    tests: [`${TESTS}/lists.test.ts`],
  },
  'whoever guessed wrong most signs in first': {
    changes: [
      {
        file: `${CONTROL}/access/people/sign-in-admission.ts`,
        from: '({ wrong }) => wrong);',
        to: '({ wrong }) => -wrong);',
      },
    ],
    tests: [`${CONTROL}/access/people/sign-in-admission.test.ts`],
  },
  'a cursor of documents repeats a row': {
    changes: [
      {
        file: 'libs/adapters/embedded/src/stores/documents.ts',
        from: "${descending ? '<' : '>'} (",
        to: "${descending ? '<=' : '>='} (",
      },
    ],
    tests: ['libs/adapters/embedded/test/contracts.server.test.ts'],
    lane: 'server',
  },
  'the code under a seal holds the chain alone': {
    changes: [
      {
        file: `${CONTROL}/audit/chain.ts`,
        from: "ids.keyed('audit seal with contents', logId, String(through), sealed, contents);",
        to: "ids.keyed('audit seal with contents', logId, String(through), sealed, contents.slice(64));",
      },
    ],
    tests: [`${TESTS}/audit-chain.test.ts`],
  },
  'a page of another origin writes in the session of a person': {
    changes: [
      {
        file: `${CONTROL}/access/guard.ts`,
        from: '    refuseForgery(request, principal);\n',
        to: '',
      },
    ],
    tests: [`${TESTS}/people-access.test.ts`],
  },
};
