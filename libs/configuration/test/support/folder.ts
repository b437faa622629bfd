import { type FileFault, readConfigurationFolder } from '@carillon/configuration';
import { reading } from './small-language.ts';

const NOTIFICATION = 'workspaces/shop/notifications/order-paid.yaml';

/** A folder without a mistake; a test changes one file. */
export const goodFolder: Readonly<Record<string, string>> = {
  'carillon.yaml': 'backend: embedded\n',
  'workspaces/shop/workspace.yaml': 'name: Shop\n',
  'workspaces/shop/streams/orders.yaml': 'key: event.order_id\nsecurity: { api_keys: [backend] }\n',
  'workspaces/shop/templates/order-paid/email.yaml': 'subject: Paid\n',
  'workspaces/shop/templates/order-paid/email.html': '<p>Paid</p>\n',
  [NOTIFICATION]: [
    'channels:',
    '  email: { template: order-paid }',
    'rules:',
    '  paid:',
    '    stream: orders',
    '    when: event.status == "paid" && event.total > 100',
    '    recipients:',
    '      from: event',
    '      to: { email: event.customer.email }',
    '      unique_id: event_id',
    '',
  ].join('\n'),
};

export const read = (changes: Readonly<Record<string, string | null>>) => {
  const files = Object.entries({ ...goodFolder, ...changes }).filter(
    (entry): entry is [string, string] => entry[1] !== null,
  );
  return readConfigurationFolder(new Map(files), reading);
};

export const faultsOf = (changes: Readonly<Record<string, string | null>>): readonly FileFault[] =>
  read(changes).faults;

/** The good notification with one line replaced. */
export const notificationWith = (line: string, by: string): Readonly<Record<string, string>> => {
  const text = goodFolder[NOTIFICATION] ?? '';
  if (!text.includes(line)) throw new Error(`no such line: ${line}`);
  return { [NOTIFICATION]: text.replace(line, () => by) };
};
