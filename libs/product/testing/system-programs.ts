/**
 * Provides system programs that some tests need. A full `npm test` installs them before the tests (tools/test/main.ts);
 * a run of single files installs them here, which is why `beforeAll` needs a long timeout.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import {
  chromiumProgram,
  ffmpegProgram,
  pgBouncerProgram,
  provideDebianProgram,
  pythonProgram,
  type Go,
  provideGo,
  opensslProgram,
} from '#libs/product/servers';

/** For `beforeAll(..., provideTimeoutMs)`: the first run on a machine downloads the packages. */
export const provideTimeoutMs = 600_000;

const progress = (line: string): void => void process.stderr.write(`${line}\n`);

/** Returns the paths of ffmpeg and ffprobe. @throws Error that lists the alternatives */
export async function provideFfmpeg(): Promise<{ ffmpeg: string; ffprobe: string }> {
  const [ffmpeg = '', ffprobe = ''] = await provideDebianProgram(ffmpegProgram, progress);
  return { ffmpeg, ffprobe };
}

/** Returns the path of a Chromium for headless use. @throws Error that lists the alternatives */
export async function provideChromium(): Promise<string> {
  const [chromium = ''] = await provideDebianProgram(chromiumProgram, progress);
  return chromium;
}

/** Returns the path of Python 3. @throws Error that lists the alternatives */
export async function providePython(): Promise<string> {
  const [python = ''] = await provideDebianProgram(pythonProgram, progress);
  return python;
}

/** Returns the installed Go, or the pinned one. @throws Error with the reason when neither is available */
export async function provideGoProgram(): Promise<Go> {
  return provideGo(progress);
}

/** Returns the path of PgBouncer. @throws Error that lists the alternatives */
export async function providePgBouncer(): Promise<string> {
  const [pgBouncer = ''] = await provideDebianProgram(pgBouncerProgram, progress);
  return pgBouncer;
}

/** Paths of a certificate and its key, in PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export interface Authority extends Certificate {
  /**
   * Issues a certificate.
   * @param names names of a server, e.g. `DNS:localhost`; omitted for a client, which is identified by its common name
   */
  issue(commonName: string, names?: readonly string[]): Certificate;
}

/** Creates a certificate authority in `dir`. */
export async function createAuthority(dir: string, name = 'authority'): Promise<Authority> {
  const [openssl = ''] = await provideDebianProgram(opensslProgram, (line) => void process.stderr.write(`${line}\n`));
  const make = (file: string, commonName: string, args: readonly string[]): Certificate => {
    const [cert, key] = [join(dir, `${file}.pem`), join(dir, `${file}.key`)];
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
    const result = spawnSync(
      openssl,
      ['req', '-x509', ...curve, '-days', '2', '-subj', `/CN=${commonName}`, '-keyout', key, '-out', cert, ...args],
      { encoding: 'utf8' },
    );
    if (result.status !== 0) throw new Error(`openssl failed: ${result.stderr}`);
    return { cert, key };
  };
  const own = make(name, `Authority ${name} of a test`, ['-addext', 'keyUsage=critical,keyCertSign']);
  return {
    ...own,
    issue: (commonName, names = []) => {
      const alternatives = names.length === 0 ? [] : ['-addext', `subjectAltName=${names.join(',')}`];
      const signed = [
        '-CA',
        own.cert,
        '-CAkey',
        own.key,
        '-addext',
        'basicConstraints=critical,CA:FALSE',
        ...alternatives,
      ];
      return make(`${name}-${commonName}`, commonName, signed);
    },
  };
}
