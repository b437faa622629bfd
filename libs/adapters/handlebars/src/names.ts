import type { EmailTemplate } from '@carillon/domain';
import type { TemplateNames } from '@carillon/ports';

import { inspect } from './check.ts';
import { PARTS } from './limits.ts';
import { walk, type Target } from './scope.ts';

/**
 * The top-level names that rendering may look up, found without rendering: those in branches not taken are among them.
 * A template that cannot be read may need everything, as far as anybody can tell.
 */
export function namesOf(template: EmailTemplate): TemplateNames {
  const { programs } = inspect(template);
  const names = new Set<string>();
  let all = false;
  for (const part of PARTS) {
    const program = programs[part];
    if (!program) {
      all ||= template[part] !== undefined;
      continue;
    }
    const add = (target: Target): void => {
      if (target.kind !== 'root') return;
      const [first] = target.rest;
      if (first === undefined) all = true;
      else names.add(first);
    };
    walk(program, {
      reference: ({ target }) => add(target),
      variable: (_statement, _path, target) => add(target),
    });
  }
  return { names: [...names].toSorted(), all };
}
