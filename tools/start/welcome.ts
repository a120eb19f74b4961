import { relative } from 'node:path';
import { listSecretValues } from '#libs/infrastructure/config';
import { conversationAccess } from '#libs/infrastructure/contract';
import type { DemoAccount } from './demo-accounts.ts';
import { readDemoAgents } from './demo-workspace.ts';
import { urlOf } from './environment.ts';
import { isOpen, readOwnDemoPassword, secretsFileOf } from './secrets.ts';

/** Returns a description of the running platform: URLs, documents, credentials. */
export function describePlatform({
  repoDir,
  dataDir,
  settings,
  demoAccounts,
  elapsed,
}: {
  repoDir: string;
  dataDir: string;
  settings: Readonly<Record<string, string>>;
  demoAccounts: readonly DemoAccount[];
  elapsed: string;
}): string {
  const displayDir = relative(repoDir, dataDir) === '.data' ? '.data' : dataDir;
  const host = settings['HOST'] ?? '';
  const secretsFile = isOpen(host, settings) ? secretsFileOf(dataDir) : undefined;
  const base = urlOf(host, settings['PORT'] ?? '');
  /** Returns the value of a secret, or only its location when others could see the secret on the screen. */
  const log = (name: string): string =>
    secretsFile === undefined
      ? (listSecretValues(settings[name] ?? '')[0] ?? '')
      : `${name} of ${secretsFile}, or your own`;
  const describePassword = (password: string | undefined): string => {
    if (password === undefined) return 'a password of its own';
    if (secretsFile !== undefined) return log('DEMO_PASSWORD');
    return password === readOwnDemoPassword(dataDir) ? `DEMO_PASSWORD of ${secretsFileOf(dataDir)}` : password;
  };
  const rows: [string, string][] = [
    ['API', base],
    ['API documents', `${base}/api/docs`],
    ['', `${base}/api/v1/docs`],
    ...(settings['CONSOLE_ENABLED'] === 'false' ? [] : [['console', `${base}/console`] satisfies [string, string]]),
    ...readDemoAgents(repoDir).map((slug, index): [string, string] => [
      index === 0 ? 'chat' : '',
      `${base}/chat/${slug}`,
    ]),
    [
      'language model',
      settings['DEMO_MODEL'] === undefined
        ? `${settings['LLM_MODEL'] ?? 'the configured model'} of ${settings['LLM_BASE_URL']}`
        : 'the demo model   (a real one: LLM_BASE_URL, LLM_MODEL and LLM_API_KEY before npm start)',
    ],
    ['conversations', conversationAccess[settings['CONVERSATION_ACCESS'] === 'members' ? 'members' : 'open']],
    ['shared token', `${log('API_TOKEN')}   (Authorization: Bearer ...)`],
    ['login key', `${log('API_LOGIN_SECRET')}   (X-SVC-API-Key of POST /api/v1/auth/login)`],
    ...demoAccounts.map(({ email, password }, index): [string, string] => [
      index === 0 ? 'demo accounts' : '',
      index > 0 && password === demoAccounts[index - 1]?.password ? email : `${email}   ${describePassword(password)}`,
    ]),
    ['admin CLI', 'npm run --silent cli -- --help'],
    ['demo', 'npm run demo   (plays one whole conversation)'],
    ['logs', `npm run logs   (follows them; they are in ${displayDir}/logs)`],
  ];
  return [
    '',
    `Coherence is ready after ${elapsed}.`,
    '',
    ...rows.map(([name, value]) => `  ${name.padEnd(16)}${value}`),
    '',
    `Stop everything with Ctrl-C; the data stays in ${displayDir}.`,
  ].join('\n');
}
