import { planted, type Change } from './planting.ts';

const changes = JSON.parse(process.env['CRASH_CHANGES'] ?? '[]') as readonly Change[];

/** Whether this run has any: what vitest keeps of a file from run to run is of the file as it is. */
export const IS_PLANTED = changes.length > 0;

/**
 * A plugin of vitest that exchanges text in the source of single files while tests load them, so that a proof can show which
 * tests find a bug. Does nothing unless `CRASH_CHANGES` names changes.
 */
export function plantedInTests() {
  return {
    name: 'planted-in-tests',
    enforce: 'pre' as const,
    transform(code: string, id: string): string | undefined {
      const [path = ''] = id.split('?');
      const fitting = changes.filter(({ file }) => path.endsWith(`/${file}`));
      return fitting.length === 0 ? undefined : fitting.reduce(planted, code);
    },
  };
}
