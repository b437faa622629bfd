import { execFile, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { FILE_SHAPES } from '@carillon/configuration';
import { CHANNELS } from '@carillon/domain/channels';
import { createPartner, readUsers } from '@carillon/example-partner';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/*
 * docs/recipients.md is read by people who write an endpoint in another language: what it shows is what happens. The curl
 * line is run as printed, but for the port, against the endpoint of docs/examples/partner.
 */

const ROOT = resolve(import.meta.dirname, '../..');
const page = readFileSync(resolve(ROOT, 'docs/recipients.md'), 'utf8');
const block = (language: string): string => new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(page)?.[1] ?? '';
const hasCurl = spawnSync('curl', ['--version']).status === 0;

const users = readUsers(resolve(ROOT, 'docs/examples/partner/users.json'));
const partner = createPartner({ key: 'a-long-random-key', users });
let address = '';
beforeAll(async () => {
  address = await partner.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(() => partner.close());

describe('docs/recipients.md', () => {
  it.skipIf(!hasCurl)('shows a call that can be pasted, and the answer that it gets', async () => {
    const call = block('sh').replace('http://127.0.0.1:7500', address);
    const { stdout } = await promisify(execFile)('sh', ['-c', call]);
    const [head = '', body = ''] = stdout.split('\r\n\r\n');
    const [shownHead = '', shownBody = ''] = block('http').split('\n\n');
    for (const line of shownHead.split('\n')) expect(head.split('\r\n')).toContain(line);
    expect(JSON.parse(body)).toEqual(JSON.parse(shownBody));
  });

  it('names an address for each channel that notifications take', () => {
    for (const { name: channel, ...of } of Object.values(CHANNELS)) {
      const read = FILE_SHAPES.notification.safeParse({ channels: { [channel]: { template: 'paid' } }, rules: {} });
      expect(read.error?.issues).toBeUndefined();
      expect(page).toContain(`\`to.${of.address.kind}\``);
    }
  });

  it('links to pages and folders that are there', () => {
    const links = [...page.matchAll(/\]\(([^)#]+)/g)].map(([, link = '']) => link);
    expect(links.length).toBeGreaterThan(2);
    for (const link of links) expect([link, existsSync(resolve(ROOT, 'docs', link))]).toEqual([link, true]);
  });
});
