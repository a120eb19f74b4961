#!/usr/bin/env node
/**
 * The admin CLI where it is installed (`npm install -g .`, `npm link`, `npx coherence`): prepared and started as npm's
 * commands are.
 */
process.argv.splice(2, 0, 'cli');
await import('../tools/bootstrap.mjs');
