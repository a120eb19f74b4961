#!/usr/bin/env node
/**
 * The installed admin CLI (`npm install -g .`, `npm link`, `npx coherence`). Starts like the commands of npm scripts.
 */
process.argv.splice(2, 0, 'cli');
await import('../tools/bootstrap.mjs');
