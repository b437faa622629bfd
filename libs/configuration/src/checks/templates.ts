import { CHANNEL_NAMES, partPath, templateOf } from '@carillon/domain';
import { isKind } from '../resource.ts';
import type { Check } from './surroundings.ts';

/** Each part of a template is read as the renderer will read it. */
export const checkTemplate: Check = (resource, { templates }, report) => {
  if (!isKind(resource, 'template')) return;
  for (const channel of CHANNEL_NAMES) {
    const template = templateOf(resource.body, channel);
    if (!template) continue;
    const expected = 'a template that can be rendered';
    for (const { part, line, column, message, fix } of templates.check(template)) {
      report.fault([channel, ...partPath(part)], { message, expected, fix }, { line, column });
    }
    for (const { part, line, column, message, fix } of templates.warnings(template)) {
      report.warn([channel, ...partPath(part)], { message, fix }, { line, column });
    }
  }
};
