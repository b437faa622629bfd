import { stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { backupRequest } from '@carillon/contracts';
import { CarillonError } from '@carillon/kernel';
import { z } from 'zod';
import { eachItem, jobKind } from '../kind.ts';

/** The one item is the file, on the server. */
export const backup = jobKind({
  action: 'write_backup',
  permission: 'people',
  audit: 'backup.write',
  parameters: z.object({ file: z.string() }),
  start: {
    path: '/v1/backups',
    operationId: 'startBackup',
    tags: ['Deployment'],
    summary: 'Writes a consistent copy of data and keys to a file of the server, as a job of the deployment',
    body: backupRequest,
  },
  async choose({ body: { file } }) {
    if (!isAbsolute(file)) {
      throw new CarillonError('invalid_request', 'file: name an absolute path on the server', { pointer: '/file' });
    }
    return { workspace: null, items: [file], parameters: { file } };
  },
  do: ({ job: { startedAt }, parameters: { file } }, ports) =>
    eachItem(ports, async () => {
      const writtenAt = await stat(file).then(
        ({ mtimeMs }) => mtimeMs,
        () => null,
      );
      // A backup gets its name when it is complete and never replaces a file, so a file of this time is this job's.
      if (writtenAt !== null && startedAt !== null && writtenAt >= startedAt) return;
      await ports.backup(file);
    }),
});
