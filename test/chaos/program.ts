/** Runs `npm run test:chaos` as a separate process. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';

const repoDir = join(import.meta.dirname, '..', '..');
/** Variables of the test run, which point to its shared servers. */
const foreign = /^(TEST_|DATABASE_URL|NATS_URL|S3_)/;

export function runChaos(...args: string[]): Promise<{ code: number; output: string }> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));
  return new Promise((resolve) => {
    const options = { cwd: repoDir, env: { ...env, NODE_OPTIONS: '' }, maxBuffer: 16 * 1024 * 1024 };
    execFile(process.execPath, [join('lab', 'chaos', 'main.ts'), ...args], options, (error, stdout, stderr) => {
      resolve({
        code: error === null ? 0 : typeof error.code === 'number' ? error.code : 1,
        output: `${stdout}${stderr}`,
      });
    });
  });
}
