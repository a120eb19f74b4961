/** `login`: stores the credential of an installation as a profile (rules/cli#profiles). */
import { text } from 'node:stream/consumers';
import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import { checkUrl, describeSignInFailure, findTarget, logIn, openClient, translateErrors } from './api.ts';
import type { CliContext } from './context.ts';
import { CliError } from './failure.ts';
import { moment } from './output/cell.ts';
import { fields } from './output/table.ts';
import { checkProfileName, localProfile, openProfiles, type Profile } from './profiles.ts';
import { promptSecret } from './prompt-secret.ts';

interface Options {
  url?: string;
  email?: string;
  passwordEnv?: string;
  loginKeyEnv?: string;
  key?: string | true;
  oidc?: true;
  issuer?: string;
  clientId?: string;
  allowHttp?: true;
}

export function register(login: Command, context: CliContext): void {
  login
    .option('--url <url>', 'address of the installation, e.g. https://coherence.example.org')
    .option('--email <email>', 'email of the account; prompts without it')
    .option('--password-env <name>', 'environment variable that holds the password; prompts without it')
    .option(
      '--login-key-env <name>',
      'environment variable that holds the login gate key; default: API_LOGIN_SECRET, or a prompt',
    )
    .option('--key [key]', 'store a service key; prompts, or reads standard input, without a value')
    .option('--oidc', 'sign in at the identity provider, with a code that is typed in a browser')
    .option('--issuer <url>', 'issuer of the identity provider; default: OIDC_ISSUER')
    .option('--client-id <id>', 'client at the identity provider that may use the device flow; default: OIDC_CLIENT_ID')
    .option('--allow-http', 'send the credential without encryption')
    .action(async (options: Options) => {
      if (options.key !== undefined && options.oidc === true)
        throw new CliError('Specify only one of --key and --oidc.', 'usage');
      const url = await findUrl(context, options);
      const name = checkProfileName(context.profile ?? nameOf(url));
      if (name === localProfile)
        throw new CliError('The profile `local` is the platform that `npm start` runs. Choose another name.', 'usage');
      const profile = await createProfile(context, url, options);
      const store = openProfiles(context.settings());
      store.save(name, profile);
      const { token: _token, refresh: _refresh, ...shown } = profile;
      context.print(
        { profile: name, ...shown },
        `Logged in to ${url} as ${profile.name}.`,
        fields({ profile: name, expires: moment(profile.expires_at), file: store.file }),
      );
    });
}

async function findUrl(context: CliContext, { url, allowHttp }: Options): Promise<string> {
  const settings = context.settings();
  const given = url ?? settings['COHERENCE_URL'];
  if (given !== undefined) return checkUrl(given, allowHttp);
  const known = await findTarget(settings, context.profile).catch(() => undefined);
  if (known === undefined) throw new CliError('Specify the installation with --url.', 'usage');
  return known.url;
}

/** Returns the host, with the port where it is not the usual one. */
const nameOf = (url: string): string => new URL(url).host.replaceAll(/[[\]]/g, '').replaceAll(':', '-');

async function createProfile(context: CliContext, url: string, options: Options): Promise<Profile> {
  if (options.key !== undefined) return withKey(url, options.key === true ? await readSecret('Key: ') : options.key);
  if (options.oidc === true) return withIdentityProvider(context, url, options);
  const email = options.email ?? (await promptText('Email: '));
  const gateKey = options.loginKeyEnv === undefined ? context.setting('API_LOGIN_SECRET') : read(options.loginKeyEnv);
  const { token, expires_at: expiresAt } = await logIn(url, {
    email,
    password: options.passwordEnv === undefined ? await readSecret('Password: ') : read(options.passwordEnv),
    gateKey: gateKey || (await readGateKey()),
  });
  return { url, kind: 'login', token, name: email, expires_at: expiresAt };

  function read(name: string): string {
    const value = context.setting(name);
    if (value === undefined || value === '') throw new CliError(`The environment variable ${name} is not set.`);
    return value;
  }
}

async function withKey(url: string, token: string): Promise<Profile> {
  const { body } = await translateErrors(() => openClient({ profile: undefined, url, token }).whoami());
  if (body.key === null) throw new CliError('This is not a service key. Log in with the password instead.', 'usage');
  return { url, kind: 'key', token, name: body.key.name, expires_at: null };
}

async function withIdentityProvider(context: CliContext, url: string, options: Options): Promise<Profile> {
  const issuer = options.issuer ?? context.setting('OIDC_ISSUER');
  const clientId = options.clientId ?? context.setting('OIDC_CLIENT_ID');
  if (!issuer || !clientId) throw new CliError('Specify --issuer and --client-id.', 'usage');
  const { signInWithDevice } = await import('#libs/infrastructure/oidc');
  const show = (line: string): void => void process.stderr.write(`${line}\n`);
  const tokens = await signInWithDevice({ issuer, client_id: clientId }, show).catch(describeSignInFailure);
  const client = openClient({ profile: undefined, url, token: tokens.token });
  const { body } = await translateErrors(() => client.whoami());
  return { url, kind: 'identity_provider', name: body.person.name, ...tokens };
}

function readGateKey(): Promise<string> {
  if (process.stdin.isTTY) return promptSecret('Login gate key of the installation: ');
  throw new CliError('Set API_LOGIN_SECRET, or use --login-key-env NAME: the login gate key of the installation.');
}

async function promptText(question: string): Promise<string> {
  if (!process.stdin.isTTY) throw new CliError('No terminal for the prompt; use --email.');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await terminal.question(question)).trim();
  } finally {
    terminal.close();
  }
}

/** Reads a secret from the terminal without echo, or from standard input. */
async function readSecret(prompt: string): Promise<string> {
  const secret = process.stdin.isTTY ? await promptSecret(prompt) : (await text(process.stdin)).trim();
  if (secret === '') throw new CliError(`No value for: ${prompt.trim()}`);
  return secret;
}
