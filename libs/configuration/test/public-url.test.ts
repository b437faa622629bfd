import { formatFault } from '@carillon/configuration';
import { expect, it } from 'vitest';
import { read } from './support/folder.ts';

const wanted = (text: string) => read({ 'carillon.yaml': `public_url: ${text}\n` });

it.each([
  'https://notify.example.com',
  'https://example.com:8443/notify/',
  'http://127.0.0.1:7400',
  'http://[::1]:7400',
])('public_url %s is accepted, and applied with the rest of the deployment', (address) => {
  const { faults, resources } = wanted(address);
  expect(faults).toEqual([]);
  expect(resources.find(({ ref }) => ref.kind === 'deployment')?.body).toEqual({ public_url: address });
});

it.each([
  'http://notify.example.com',
  'http://localhost.example.com',
  'https://user:pw@notify.example.com',
  'https://notify.example.com/?a=b',
  '"https://notify.example.com/#x"',
  'ftp://notify.example.com',
  'notify.example.com',
])('public_url %s is refused at its position, with the fix', (address) => {
  const [fault, ...others] = wanted(address).faults.map(formatFault);
  expect(others).toEqual([]);
  expect(fault).toMatch(/^carillon\.yaml:1:\d+ {2}public_url: .*https:\/\/notify\.example\.com/);
});
