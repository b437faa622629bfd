import { formatFault } from '@carillon/configuration';
import { expect, test } from 'vitest';
import { read } from './support/folder.ts';

const smtp = (more: string): string => `kind: smtp, host: mx.example.com, port: 587, from: a@example.com${more}`;
const told = (more: string): readonly string[] =>
  [
    read({ 'workspaces/shop/accounts/mail.yaml': `{ ${smtp(more)} }\n` }),
    read({ 'carillon.yaml': `accounts: { email: { ${smtp(more)} } }\n` }),
  ].flatMap(({ faults }) => faults.map(formatFault));

test('a password over encryption that anybody can take away is refused, of a workspace and of the deployment', () => {
  const user = ', user: shop, password: { secret: MAIL }';
  expect(told(`, tls: opportunistic${user}`)).toEqual([
    expect.stringMatching(/accounts\/mail\.yaml:1:\d+ {2}tls: opportunistic takes any certificate or none/),
    expect.stringMatching(/^carillon\.yaml:1:\d+ {2}accounts\.email\.tls: .*write tls: starttls/),
  ]);
  expect(told(', tls: opportunistic')).toEqual([]);
  expect(told(`, tls: starttls${user}`)).toEqual([]);
});

test('what a template may mean and is dangerous is a warning at its place', () => {
  const { faults, warnings } = read({ 'workspaces/shop/templates/order-paid/email.html': '<p>\n ¿</p>\n' });
  expect(faults).toEqual([]);
  expect(warnings.filter(({ file }) => file.endsWith('.html'))).toEqual([
    {
      file: 'workspaces/shop/templates/order-paid/email.html',
      path: '',
      line: 2,
      column: 2,
      message: 'odd ¿',
      fix: 'look',
    },
  ]);
});
