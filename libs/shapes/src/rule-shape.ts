import { isId } from '@carillon/kernel';
import { z } from 'zod';
import { ruleFormKeys } from './rule-forms/index.ts';
import { recipients } from './recipients-shape.ts';
import { expression, keys, said, slug, text } from './shape-parts.ts';
import { CHANGE_OPS, DEFAULTS } from './values.ts';

const EVENT_PATH = /^[a-z0-9-]+\/[a-z0-9-]+\.[a-z0-9-]+$/;

/** Cohort event that starts a rule instead of events of a stream. */
export const cohortShape = keys({
  integration: said(slug, {
    description: 'Name of the analytics platform (integrations/<name>.yaml).',
    example: 'mixpanel',
  }),
  id: said(text(255), {
    description: 'Id of the cohort at the platform; its name may change.',
    example: '1478097',
  }),
  on: said(z.enum(['entered', 'left']), { description: 'Which change fires the rule.' }),
  first_sync: said(z.enum(['silent', 'notify']).exactOptional(), {
    description:
      'Whether initial members of a cohort are notified at the first sync. `silent`: only those who enter later.',
    default: DEFAULTS.cohort.first_sync,
  }),
});

export const ruleShape = keys({
  id: said(
    z
      .string()
      .refine((id) => isId('rule', id), { error: 'an id as export writes it: rul_ and 26 characters' })
      .exactOptional(),
    {
      description: 'Given at creation, written by `export`. What was counted is counted by it, so a rename keeps it.',
    },
  ),
  path: said(z.string().regex(EVENT_PATH, { error: 'workspace/notification.rule' }).exactOptional(), {
    description: 'Address of the rule’s own stream, given at creation, written by `export`. Never with `stream`.',
    otherwise: '<workspace>/<notification>.<rule>',
    example: 'shop/order-paid.paid',
  }),
  enabled: said(z.boolean().exactOptional(), {
    description: 'false: the rule judges nothing.',
    default: DEFAULTS.rule.enabled,
  }),
  stream: said(slug.exactOptional(), {
    description: 'Name of a shared stream (streams/<name>.yaml). Left out, the rule has a stream of its own.',
    example: 'orders',
  }),
  cohort: said(cohortShape.exactOptional(), {
    description:
      'Instead of a stream: a person enters or leaves a cohort. A lookup of the member returns the recipients.',
  }),
  changes: said(
    z
      .array(z.enum(CHANGE_OPS))
      .min(1, { error: CHANGE_OPS.join(', ') })
      .exactOptional(),
    {
      description:
        'On a stream that reads a database: changes that the rule looks at. `snapshot`: a row that was there already, which a connector sends.',
      default: DEFAULTS.rule.changes,
      example: ['update'],
    },
  ),
  when: said(expression().exactOptional(), {
    description:
      'Boolean on `event`, `event_id`, `time`: the rule fires when it is true. Optional only if a cohort starts the rule.',
    example: 'event.status == "paid" && event.total > 100',
  }),
  ...ruleFormKeys,
  recipients: said(recipients, { description: 'Who is told.' }),
  open_recipients: said(z.boolean().exactOptional(), {
    description:
      'true: each holder of a token can send to any address. Needed with `jwt_provider` if `to` or `for_each` reads a field that no claim binds.',
    default: false,
  }),
});
