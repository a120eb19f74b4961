/** An authority of a test's own, and certificates that it signed; nothing of it outlives the test's folder. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { opensslProgram, provideDebianProgram } from '#libs/servers';

/** Paths of a certificate and of its key, in PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export interface Authority extends Certificate {
  /** @param names of a server, e.g. `DNS:localhost`; none for a client, whose common name is what counts */
  issue(commonName: string, names?: readonly string[]): Certificate;
}

/** Makes an authority in `dir`. */
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
      const signed = ['-CA', own.cert, '-CAkey', own.key, '-addext', 'basicConstraints=critical,CA:FALSE', ...alternatives];
      return make(`${name}-${commonName}`, commonName, signed);
    },
  };
}
