import { isLocale, isTimeZone } from '@carillon/kernel';
import { z } from 'zod';
import { workspaceCadence } from './cadence-shape.ts';
import { keys, said, text } from './shape-parts.ts';

const timeZone = z.string().refine(isTimeZone, { error: 'a time zone such as Europe/Berlin' });
const locale = z.string().refine(isLocale, { error: 'a language tag such as en or de-AT' });

export const workspaceShape = keys({
  name: said(text(200).exactOptional(), {
    description: 'Name for people.',
    otherwise: 'the folder’s name',
    example: 'Shop',
  }),
  time_zone: said(timeZone.exactOptional(), {
    description: 'Time zone of people who have none of their own.',
    default: 'UTC',
    example: 'Europe/Berlin',
  }),
  locale: said(locale.exactOptional(), {
    description: 'Language of people who have none of their own.',
    default: 'en',
    example: 'en',
  }),
  cadence: said(workspaceCadence.exactOptional(), { description: 'When people are told, for all its messages.' }),
});
