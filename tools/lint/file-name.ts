import type { Rule } from './rule.ts';
import { pathOf } from './workspace.ts';

const ANYWHERE = new Set(['util', 'utils', 'helper', 'helpers', 'common', 'manager', 'managers']);
const ALONE = new Set(['misc', 'shared']);

const saysNothing = (part: string): boolean => {
  const [stem = ''] = part.split('.');
  const words = stem
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split(/[-_]/);
  return ALONE.has(stem.toLowerCase()) || words.some((word) => ANYWHERE.has(word));
};

/** A file or folder is named after what is in it. */
export const fileName: Rule = {
  meta: { type: 'problem' },
  create(context) {
    const part = pathOf(context.filename).split('/').find(saysNothing);
    if (part === undefined) return {};
    const message = `"${part}" says nothing: name a file or folder after what is in it`;
    return { Program: (node) => context.report({ node, message }) };
  },
};
