import { boundaries } from './boundaries.ts';
import { environment } from './environment.ts';
import { fileName } from './file-name.ts';
import { functionLength } from './function-length.ts';
import { kindName } from './kind-name.ts';
import { purity } from './purity.ts';
import { typeAlias } from './type-alias.ts';

/** The rules of this house that no linter brings along. oxlint reads the default export. */
export default {
  meta: { name: 'carillon' },
  rules: {
    boundaries,
    environment,
    'file-name': fileName,
    'function-length': functionLength,
    'kind-name': kindName,
    purity,
    'type-alias': typeAlias,
  },
};
