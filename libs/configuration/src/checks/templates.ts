import { isKind } from '../resource.ts';
import type { Check } from './surroundings.ts';

/** Each part of a template is read as the renderer will read it. */
export const checkTemplate: Check = (resource, { templates }, report) => {
  if (!isKind(resource, 'template')) return;
  const { email } = resource.body;
  for (const { part, line, column, message, fix } of templates.check(email)) {
    report.fault(['email', part], { message, expected: 'a template that can be rendered', fix }, { line, column });
  }
  for (const { part, line, column, message, fix } of templates.warnings(email)) {
    report.warn(['email', part], { message, fix }, { line, column });
  }
};
