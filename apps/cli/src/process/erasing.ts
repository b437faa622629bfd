import { statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { createEraser, type ControlPorts } from '@carillon/control';
import { CarillonError } from '@carillon/kernel';
import type { Foundation } from './foundation.ts';
import { READERS, readUnreadOffsets } from './log-positions.ts';

/** Copies of the data file that a rewrite needs: a temporary one beside it, and its pages in the write-ahead log. */
const COPIES = 2;

/** What erases people from the data of this process. */
export function erasingOf({
  alone,
  backend,
  settings,
}: Pick<Foundation, 'alone' | 'backend' | 'settings'>): ControlPorts['erasing'] {
  return {
    eraser: createEraser(backend.erasure),
    alone,
    unreadOffsets: () => readUnreadOffsets(backend),
    readTopics: [...new Set(READERS.map(([, topic]) => topic))],
    async requireRoom() {
      if (backend.kind === 'cluster') return;
      const { bavail, bsize } = await statfs(settings.dataDir);
      const needed = COPIES * statSync(join(settings.dataDir, 'carillon.db')).size;
      if (bavail * bsize >= needed) return;
      const mib = Math.ceil(needed / 1024 / 1024);
      throw new CarillonError('no_room', `an erasure rewrites the data file, which needs ${mib} MiB of free disk`);
    },
  };
}
