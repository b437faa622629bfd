import type { Run, RunBase } from '@carillon/domain/runs';
import type { RunStore } from '@carillon/ports';

type Written<Each extends Run> = Partial<Pick<RunBase, 'checksum' | 'progress'> & Pick<Each, 'counts'>>;

/** Writes fields of a run over its newest version. Resolves when they are stored, or if the run was removed. */
export async function writeRun<Each extends Run>({ id }: Each, runs: RunStore, fields: Written<Each>): Promise<void> {
  for (let run = await runs.get(id); run; run = await runs.get(id)) {
    if ((await runs.replace({ ...run, ...fields, version: run.version + 1 } as Run)) === 'done') return;
  }
}
