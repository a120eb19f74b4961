/** `logout`: ends the login of a profile and removes it (rules/cli#profiles). */
import type { Command } from 'commander';
import { AppError } from '#libs/infrastructure/errors';
import type { CliContext } from './context.ts';
import { CliError } from './failure.ts';
import { openProfiles } from './profiles.ts';

export function register(logout: Command, context: CliContext): void {
  logout.action(async () => {
    const store = openProfiles(context.settings());
    const name = context.profile ?? context.setting('COHERENCE_PROFILE') ?? store.current();
    const profile = name === undefined ? undefined : store.list().get(name);
    if (name === undefined || profile === undefined)
      throw new CliError(name === undefined ? 'No profile is in use.' : `Profile ${name} does not exist.`, 'not_found');
    const ended = profile.kind === 'login' && (await endSession(context, name));
    store.remove(name);
    context.print(
      { profile: name, session_ended: ended },
      profile.kind === 'key'
        ? `Removed the profile ${name}. Its key is still valid; \`keys revoke\` ends it.`
        : `Logged out of ${profile.url}.`,
    );
  });
}

/** Returns false when the session had ended before. @throws CliError when the installation cannot be reached */
async function endSession(context: CliContext, name: string): Promise<boolean> {
  const { findTarget, openClient, translateErrors } = await import('./api.ts');
  const target = await findTarget(context.settings(), name);
  try {
    await translateErrors(() => openClient(target).logout());
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === 'unauthenticated') return false;
    throw error;
  }
}
