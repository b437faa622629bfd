import { formatFault } from '@carillon/configuration';
import { describe, expect, it } from 'vitest';
import { read } from './support/folder.ts';

const faultsOf = (text: string) => read({ 'carillon.yaml': text }).faults.map(formatFault);

describe('portal_url', () => {
  it.each(['https://carillon.example.com', 'https://carillon.example.com:8443/', 'http://127.0.0.1:7401'])(
    'is accepted as %s',
    (address) => expect(faultsOf(`portal_url: ${address}\n`)).toEqual([]),
  );

  it.each(['http://carillon.example.com', 'https://example.com/carillon', 'https://a:b@example.com', 'example.com'])(
    'is refused as %s, at its position and with the fix',
    (address) => {
      expect(faultsOf(`portal_url: ${address}\n`)).toEqual([
        expect.stringMatching(/^carillon\.yaml:1:\d+ {2}portal_url: .*https:\/\//),
      ]);
    },
  );
});
