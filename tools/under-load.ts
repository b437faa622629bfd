/** Keeps the machine busy while tests run: `npm test -- --under-load`. */
import { spawn } from 'node:child_process';

const SPINNING = 4;

/** Starts processes that do nothing but spin; answers what ends them. They end with this process too. */
export function startLoad(): () => void {
  const spin =
    'setInterval(() => { if (process.ppid === 1) process.exit(); const end = Date.now() + 1000; while (Date.now() < end); }, 0)';
  const spinning = Array.from({ length: SPINNING }, () => spawn(process.execPath, ['-e', spin], { stdio: 'ignore' }));
  const stop = (): void => spinning.forEach((one) => void one.kill('SIGKILL'));
  process.once('exit', stop);
  return () => {
    process.removeListener('exit', stop);
    stop();
  };
}
