import {
  CHANGED_BY_OWNER,
  deploymentRef,
  EMPTY_CONFIGURATION,
  foldConfiguration,
  resourceKey,
  type AccountBody,
  type ApiKeyBody,
  type Configuration,
  type DeploymentBody,
  type IntegrationBody,
  type LayoutBody,
  type NotificationBody,
  type PartialBody,
  type ResourceChange,
  type StreamBody,
  type TemplateBody,
  type WorkspaceBody,
} from '@carillon/domain/configuration';

/** A change that says what it wants; what it is based on is filled in from the configuration that it is made for. */
export type Wish = ResourceChange extends infer Change
  ? Change extends ResourceChange
    ? Omit<Change, 'based_on'>
    : never
  : never;

const WORKSPACE = 'shop';

export const notification = (name: string, body: NotificationBody | null, workspace = WORKSPACE): Wish => ({
  ref: { kind: 'notification', workspace, name },
  body,
});
export const template = (name: string, body: TemplateBody | null, workspace = WORKSPACE): Wish => ({
  ref: { kind: 'template', workspace, name },
  body,
});
export const layout = (name: string, body: LayoutBody | null, workspace = WORKSPACE): Wish => ({
  ref: { kind: 'layout', workspace, name },
  body,
});
export const partial = (name: string, body: PartialBody | null, workspace = WORKSPACE): Wish => ({
  ref: { kind: 'partial', workspace, name },
  body,
});
export const workspaceOf = (body: WorkspaceBody | null, name = WORKSPACE): Wish => ({
  ref: { kind: 'workspace', workspace: name, name: '' },
  body,
});
export const stream = (name: string, body: StreamBody | null, workspace = WORKSPACE): Wish => ({
  ref: { kind: 'stream', workspace, name },
  body,
});
export const account = (name: string, body: AccountBody | null, workspace = WORKSPACE): Wish => ({
  ref: { kind: 'account', workspace, name },
  body,
});
export const integration = (name: string, body: IntegrationBody | null, workspace = WORKSPACE): Wish => ({
  ref: { kind: 'integration', workspace, name },
  body,
});
export const apiKey = (name: string, body: ApiKeyBody | null, workspace = WORKSPACE): Wish => ({
  ref: { kind: 'api_key', workspace, name },
  body,
});
export const workspaceSettings = (body: WorkspaceBody | null, workspace = WORKSPACE): Wish => ({
  ref: { kind: 'workspace', workspace, name: '' },
  body,
});
export const deployment = (body: DeploymentBody | null): Wish => ({ ref: deploymentRef, body });

/** The wishes as changes of this configuration: based on what it holds. */
export const changesOf = (configuration: Configuration, wishes: readonly Wish[]): ResourceChange[] =>
  wishes.map((wish) => ({ ...wish, based_on: configuration.resources.get(resourceKey(wish.ref))?.number ?? null }));

export const recordOf = (changes: readonly ResourceChange[]) => ({
  id: 'req_1',
  at: '2026-01-31T08:00:00.000Z',
  by: CHANGED_BY_OWNER,
  changes,
});

/** The configuration after each of these records, one number after the other. */
export const configurationOf = (...records: readonly (readonly Wish[])[]): Configuration =>
  records.reduce(
    (before, wishes) => foldConfiguration(before, recordOf(changesOf(before, wishes)), before.number + 1).configuration,
    EMPTY_CONFIGURATION,
  );

/** A notification with one rule, which emails the buyer of a paid order. */
export const ORDER_PAID: NotificationBody = {
  channels: { email: { template: 'order-paid' } },
  rules: {
    paid: {
      stream: 'orders',
      when: 'event.status == "paid"',
      recipients: { from: 'event', to: { email: 'event.customer.email' }, unique_id: 'event.order_id' },
    },
  },
};
export const ORDERS: StreamBody = { security: { api_keys: ['main'] } };
export const PAID_MAIL = {
  email: { subject: 'Order {{order_id}} is paid', text: 'Hello {{customer.name}}.' },
} satisfies TemplateBody;

/** A stream `orders`, the notification `order-paid` over it, and its template. */
export const orderShop = (body: NotificationBody = ORDER_PAID, workspace = WORKSPACE): readonly Wish[] => [
  stream('orders', ORDERS, workspace),
  notification('order-paid', body, workspace),
  template('order-paid', PAID_MAIL, workspace),
];
