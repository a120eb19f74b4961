import { relative } from 'node:path';
import { readDemoAccounts, readDemoAgents } from './demo-workspace.ts';

/** What to do next, for people: addresses, documents, credentials. */
export function describePlatform({
  repoDir,
  dataDir,
  settings,
  elapsed,
}: {
  repoDir: string;
  dataDir: string;
  settings: Readonly<Record<string, string>>;
  elapsed: string;
}): string {
  const shownDir = relative(repoDir, dataDir) === '.data' ? '.data' : dataDir;
  const base = `http://localhost:${settings['PORT']}`;
  const rows: [string, string][] = [
    ['API', base],
    ['API documents', `${base}/api/docs`],
    ['', `${base}/api/v1/docs`],
    ...readDemoAgents(repoDir).map((slug, index): [string, string] => [index === 0 ? 'chat' : '', `${base}/chat/${slug}`]),
    ['shared token', `${settings['API_TOKEN']}   (Authorization: Bearer ...)`],
    ['login key', `${settings['API_LOGIN_SECRET']}   (X-SVC-API-Key of POST /api/v1/auth/login)`],
    ...readDemoAccounts(repoDir).map(({ email, password }, index): [string, string] => [
      index === 0 ? 'demo accounts' : '',
      `${email}   ${password}`,
    ]),
    ['admin CLI', 'npm run cli -- --help'],
    ['demo', 'npm run demo   (plays one whole conversation)'],
    ['logs', `${shownDir}/logs/<service>.log`],
  ];
  return [
    '',
    `Coherence is ready after ${elapsed}.`,
    '',
    ...rows.map(([name, value]) => `  ${name.padEnd(16)}${value}`),
    '',
    `Ctrl-C stops everything; the data stay in ${shownDir}.`,
  ].join('\n');
}
