import type { TestedBug } from './planted-bug.ts';

const SUBJECT = 'libs/domain/test/erasures/subject.test.ts';
const MEMORY = 'libs/domain/test/erasures/erased-memory.test.ts';
const LIST = 'apps/cli/src/process/erased-records.test.ts';
const APPLIED = 'apps/cli/src/process/apply-erasures.server.test.ts';
const RESTORED = 'libs/adapters/embedded/test/restore.server.test.ts';
const STORES = 'libs/adapters/mongodb/test/erasure.server.test.ts';
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
  'an erasure leaves out one store': {
    changes: [
      {
        file: 'libs/adapters/mongodb/src/erasure/store-eraser.ts',
        from: '  scanOptOuts,\n  scanInbox,\n',
        to: '  scanOptOuts,\n',
      },
    ],
    tests: [STORES],
    lane: 'server',
  },
  'a worker answers by what it remembers of an erased person': {
    changes: [
      {
        file: 'apps/cli/src/process/erased-records.ts',
        from: 'number() === begunBy ? masked : await renew(masked);',
        to: 'number() === begunBy ? masked : masked;',
      },
    ],
    tests: [LIST],
  },
  'a record that an erasure edited gets back what it lost': {
    changes: [
      {
        file: 'apps/cli/src/process/erased-records.ts',
        from: 'if (before && !isErased && before.left !== base64(found)) return;',
        to: '',
      },
    ],
    tests: [LIST],
  },
  'a backup that was made during an erasure keeps the person': {
    changes: [
      {
        file: 'apps/cli/src/process/apply-erasures.ts',
        from: 'if (known && known.erasedAt !== null) continue;',
        to: 'if (known) continue;',
      },
    ],
    tests: [APPLIED],
    lane: 'server',
  },
  'a list of erasures is applied after the restored folder can start': {
    changes: [
      {
        file: 'libs/adapters/embedded/src/restore/restore.ts',
        from: '    await options.beforeReady?.(unfinished);\n    if (existsSync(dataDir)) rmdirSync(dataDir);\n    renameSync(unfinished, dataDir);\n',
        to: '    if (existsSync(dataDir)) rmdirSync(dataDir);\n    renameSync(unfinished, dataDir);\n    await options.beforeReady?.(dataDir);\n',
      },
    ],
    tests: [RESTORED],
    lane: 'server',
  },
};
