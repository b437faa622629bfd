import { EMPTY_CONFIGURATION } from '@carillon/domain/configuration';
import type { Expression, ExpressionFault, FieldRoot } from '@carillon/domain/rules';
import { err, ok } from '@carillon/kernel';
import type { ExpressionCheck, CheckContext, TemplateCheck } from '@carillon/configuration';

const placeIn = (text: string, at: number): { line: number; column: number } => {
  const before = text.slice(0, at).split('\n');
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
};

/** A language in which everything may be written but the character §; enough to see where a fault is shown. */
export const smallLanguage: ExpressionCheck = {
  compile(source) {
    const faults: ExpressionFault[] = [...source.matchAll(/§/g)].map(({ index }) => ({
      ...placeIn(source, index),
      message: 'unexpected §',
      fix: 'remove it',
    }));
    const expression: Expression = {
      source,
      fields: [...source.matchAll(/\b(event|previous|op|source|deadline)\b((?:\.\w+)*)/g)].map(
        ([, root, path = '']) => ({
          root: root as FieldRoot,
          path: path.slice(1),
          steps: [],
          type: null,
          dynamic: false,
        }),
      ),
      largeSteps: /\bmatches\b/.test(source) ? 3_000 : 1,
      usesItem: /\bitem\b/.test(source),
      evaluate: () => ({ ok: false, error: 'not evaluated here' }),
      explain: () => [],
      parts: () => [],
      form: () => ({ match: 'all', conditions: [] }),
      requirement: () => ({ kind: 'unknown' }),
    };
    return faults.length > 0 ? err(faults) : ok(expression);
  },
};

/** Templates in which only {{§}} is wrong. */
export const smallTemplates: TemplateCheck = {
  piece: () => [],
  warnings: ({ parts: { html } }) =>
    html?.includes('¿') ? [{ part: 'html', ...placeIn(html, html.indexOf('¿')), message: 'odd ¿', fix: 'look' }] : [],
  check: ({ parts }) =>
    Object.entries(parts).flatMap(([part, text]) => {
      const at = text.indexOf('§');
      return at < 0 ? [] : [{ part, ...placeIn(text, at), message: 'unexpected §', fix: 'remove it' }];
    }),
};

export const reading: CheckContext = {
  language: smallLanguage,
  templates: smallTemplates,
  current: EMPTY_CONFIGURATION,
};
