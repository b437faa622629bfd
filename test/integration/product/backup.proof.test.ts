import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { cli, startProduct, startScriptedSmtp } from '@carillon/testing';
import { describe, expect, it } from 'vitest';
import { openShop, order, shopFiles, shopOf, smtpDeployment, writeFiles } from './shop.ts';

describe('A backup', () => {
  it('restored into a new folder does not resend sent messages, and sends waiting ones', async () => {
    const smtp = await startScriptedSmtp({
      script: ({ stage, line }) => (stage === 'rcpt' && line.includes('later@') ? '450 4.2.0 come again' : undefined),
    });
    const shop = await openShop({ files: shopFiles({ deployment: smtpDeployment(smtp.port) }) });
    const file = join(shop.folder, 'shop.backup');
    const restored = join(shop.folder, 'restored');
    try {
      const sent = await Promise.all(
        ['R-1', 'R-2', 'R-3'].map((id) => shop.send(order(id, { email: `${id}@example.com` }))),
      );
      for (const id of sent) await shop.delivered(id, 'SENT');
      const waiting = await shop.putOff(await shop.send(order('R-4', { email: 'later@example.com' })));
      expect(await shop.run(['backup', file])).toMatchObject({ code: 0, stderr: '' });
      expect(statSync(file).mode & 0o777).toBe(0o600);

      const again = await shop.run(['backup', file]);
      expect(again.code).toBe(2);
      expect(again.stderr).toContain('exists already');
      const nowhere = await shop.run(['backup', join(shop.folder, 'no', 'where')]);
      expect(nowhere.code).toBe(2);
      expect(nowhere.stderr).toContain('there is no folder');
      for (const refused of [`${file}/below-a-file`, join(shop.folder, 'n'.repeat(300)), '/a\0b']) {
        const { status, body } = await shop.api('POST', '/v1/backup', { file: refused });
        expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalid_request' });
      }
      await shop.product.kill('SIGKILL');

      const overData = await cli(['restore', file, '--no-erasures'], { dataDir: shop.dataDir });
      expect(overData.code).toBe(2);
      expect(overData.stderr).toContain('is not empty');
      const ofNothing = await cli(['restore', join(shop.folder, 'none'), '--no-erasures'], { dataDir: restored });
      expect(ofNothing).toMatchObject({ code: 2 });
      writeFiles(shop.folder, { 'junk.backup': 'not a backup' });
      const ofJunk = await cli(['restore', join(shop.folder, 'junk.backup'), '--no-erasures'], { dataDir: restored });
      expect(ofJunk.code).toBe(2);
      expect(ofJunk.stderr).toContain('not a whole backup');
      expect(existsSync(restored)).toBe(false);

      const done = await cli(['restore', file, '--no-erasures'], { dataDir: restored });
      expect(done).toMatchObject({ code: 0, stderr: '' });
      expect(done.stdout).toContain(`up --data-dir ${restored}`);
      const accepted = smtp.accepted.length;
      const product = await startProduct({ dataDir: restored });
      try {
        const after = shopOf(product, shop.folder, restored, shop.key);
        // The same orders once more, with the key of before: every slot is remembered.
        const repeats = await Promise.all(
          ['R-1', 'R-2', 'R-3'].map((id) => after.send(order(id, { email: `${id}@example.com` }))),
        );
        for (const id of repeats)
          expect(await after.delivered(id)).toMatchObject({ state: 'SUPPRESSED', reason: 'duplicate' });
        expect(await after.run(['deliveries', 'cancel', waiting.id])).toMatchObject({ code: 0 });
        smtp.follow(() => undefined);
        expect(await after.run(['deliveries', 'resend', waiting.id])).toMatchObject({ code: 0 });
        await after.delivered(waiting.event_id ?? '', 'SENT');
        expect(smtp.accepted.slice(accepted).map((mail) => mail.to)).toEqual([['later@example.com']]);
        expect(await after.run(['doctor'])).toMatchObject({ code: 0 });
      } finally {
        await product.kill('SIGKILL');
      }
    } finally {
      await shop.close();
      await smtp.stop();
    }
  });

  it('from before, within and after an exchange of the master key holds the key that opens its secrets', async () => {
    const shop = await openShop({ files: shopFiles() });
    const steps = [[], ['secret', 'rotate'], ['secret', 'rotate', '--finish']] as const;
    const files = steps.map((_, at) => join(shop.folder, `${at}.backup`));
    try {
      await shop.api('PUT', '/v1/secrets/SMTP_PASSWORD', { value: 'hunter2' });
      for (const [at, step] of steps.entries()) {
        if (step.length > 0) expect(await shop.run(step)).toMatchObject({ code: 0 });
        expect(await shop.run(['backup', files[at] ?? ''])).toMatchObject({ code: 0 });
      }
      await shop.product.kill('SIGKILL');
      for (const [at, file] of files.entries()) {
        const dataDir = join(shop.folder, `restored-${at}`);
        expect(await cli(['restore', file, '--no-erasures'], { dataDir })).toMatchObject({ code: 0, stderr: '' });
        const product = await startProduct({ dataDir });
        try {
          const after = shopOf(product, shop.folder, dataDir, shop.key);
          // Nothing can be encrypted anew that does not open.
          const { stdout } = await after.run(['secret', 'rotate', '--values']);
          expect({ at, stdout }).toEqual({
            at,
            stdout: expect.stringContaining('1 values are encrypted again') as unknown,
          });
        } finally {
          await product.kill('SIGKILL');
        }
      }
    } finally {
      await shop.close();
    }
  });
});
