import type { EventOutbox } from '#libs/feed';
import type { JobHandler, Jobs } from '#libs/jobs';
import { setLogo, type LogoSetting } from './set-logo.ts';

/** Job `directory.set-logo`: as the operation, for when the media service could not reach it. */
export function createSetLogo(deps: { jobs: Jobs; eventOutbox: EventOutbox }): JobHandler<LogoSetting> {
  return ({ payload }) => setLogo(deps, payload);
}
