import type { TestedBug } from './planted-bug.ts';

const SUBJECT = 'libs/domain/test/erasures/subject.test.ts';
const MEMORY = 'libs/domain/test/erasures/erased-memory.test.ts';
const CONSENTS = 'libs/stages/test/consent/hash-names.test.ts';

/** Bugs of erasures, and of the keyed hashes under which opt-outs stay in force. */
export const ERASURE_BUGS: Readonly<Record<string, TestedBug>> = {
  'an erased address is found in one letter case': {
    changes: [
      {
        file: 'libs/domain/src/erasures/subject.ts',
        from: 'forms.some((form) => isKnown(canonicalEmail(form) ?? form));',
        to: 'forms.some((form) => isKnown(form));',
      },
    ],
    tests: [SUBJECT],
  },
  'totals that name an erased person are left out': {
    changes: [
      {
        file: 'libs/domain/src/erasures/erased-memory.ts',
        from: 'const keptOfOthers = kept && keptWithoutPerson(kept, matcher);',
        to: 'const keptOfOthers = kept;',
      },
    ],
    tests: [MEMORY],
  },
  'records of opt-outs are removed before they are read': {
    changes: [
      {
        file: 'libs/stages/src/consent/hash-names.ts',
        from: '?? 0) >= replaced) await log.cut(',
        to: '?? 0) >= 0) await log.cut(',
      },
    ],
    tests: [CONSENTS],
  },
};
