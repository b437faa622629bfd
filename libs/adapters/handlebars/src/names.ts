import { pathText } from '@carillon/domain/events';
import type { TemplateField, TemplateNames } from '@carillon/ports';

import { inspect } from './check.ts';
import type { TemplateSource } from './template-source.ts';
import { placeIn, walk, type Scope, type Target } from './scope.ts';

/**
 * The top-level names that rendering may look up, found without rendering: those in branches not taken are among them.
 * A template that cannot be read may need everything, as far as anybody can tell.
 */
export function namesOf(sheet: TemplateSource): TemplateNames {
  const { programs } = inspect(sheet);
  const names = new Set<string>();
  let all = false;
  for (const { name, source } of sheet.parts) {
    const program = programs.get(name);
    if (!program) {
      all ||= source !== undefined;
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

/** What the first argument of a helper has to be. */
const FIRST_ARGUMENT: Readonly<Record<string, TemplateField['type']>> = {
  each: 'array',
  with: 'object',
  date: 'time',
  number: 'number',
  currency: 'number',
  plural: 'number',
};

/** Every path that rendering may look up, in the order of first mention. */
export function fieldsOf(sheet: TemplateSource): readonly TemplateField[] {
  const { programs, faults } = inspect(sheet);
  if (faults.length > 0) return [];
  const found = new Map<string, TemplateField>();
  for (const program of programs.values()) {
    const add = (target: Target, scopes: readonly Scope[], helper?: string): void => {
      const steps = placeIn(target, scopes);
      if (steps === null || steps.length === 0) return;
      const key = pathText(steps);
      const type = helper === undefined ? null : (FIRST_ARGUMENT[helper] ?? null);
      found.set(key, { steps, type: found.get(key)?.type ?? type });
    };
    walk(program, {
      reference: ({ target, scopes, helper }) => add(target, scopes, helper),
      variable: (_statement, _path, target, scopes) => add(target, scopes),
    });
  }
  return [...found.values()];
}
