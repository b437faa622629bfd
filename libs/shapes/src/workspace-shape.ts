import { isLocale, isTimeZone } from '@carillon/kernel';
import { z } from 'zod';
import { workspaceCadence } from './cadence-shape.ts';
import { keys, said, slug, text } from './shape-parts.ts';

const timeZone = z.string().refine(isTimeZone, { error: 'a time zone such as Europe/Berlin' });
const locale = z.string().refine(isLocale, { error: 'a language tag such as en or de-AT' });

/** A category: notifications that people opt out of together. If it is empty, people only see its name. */
export const categoryShape = keys({
  name: said(text(100).exactOptional(), {
    description: 'Name for people, on the page of their choices.',
    otherwise: 'its key, as words',
    example: 'Your orders',
  }),
  description: said(text(500).exactOptional(), {
    description: 'What it holds, for people.',
    example: 'What happens to what you bought',
  }),
  was: said(z.array(slug).min(1, { error: 'at least one name' }).exactOptional(), {
    description: 'Names that it had before: who opted out of these is out of it.',
    example: ['purchases'],
  }),
});

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
  categories: said(z.record(slug, categoryShape).exactOptional(), {
    description: 'What people can opt out of together, by the name that notifications use.',
    example: { orders: { name: 'Your orders' } },
  }),
  environment: said(z.enum(['live', 'test']).exactOptional(), {
    description:
      '`test`: a workspace to try things in. Its messages go to the sandbox, whatever accounts it has, and its changes can be promoted.',
    default: 'live',
    example: 'test',
  }),
  of: said(slug.exactOptional(), {
    description:
      'Of a test environment: the workspace that it is for, and that `npx carillon promote` writes drafts into.',
    example: 'shop',
  }),
  allow_real_accounts: said(z.boolean().exactOptional(), {
    description: 'Of a test environment: `true` lets it send over accounts, to real people.',
    default: false,
  }),
  cadence: said(workspaceCadence.exactOptional(), { description: 'Limits and quiet hours for all its messages.' }),
});
