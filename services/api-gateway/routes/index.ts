/** The route table: every HTTP operation of the platform (architecture#contracts). */
import { agentRoutes } from './agents.ts';
import { authRoutes } from './auth.ts';
import { browseDirectoryRoutes, browseRoutes } from './browse.ts';
import { chatPageRoutes } from './chat-page.ts';
import { consoleRoutes } from './console.ts';
import {
  conversationRoutes,
  editingRoutes,
  infosRoutes,
  questionRoutes,
  roomRoutes,
  searchRoutes,
} from './conversations.ts';
import { docsRoutes } from './docs.ts';
import { mcpRoutes } from './mcp.ts';
import { audioRoutes, videoRoutes } from './media.ts';
import { opsRoutes } from './ops/index.ts';
import { journeyRoutes } from './journeys.ts';
import { timelineRoutes } from './timeline.ts';
import { transcriptRoutes } from './transcripts.ts';
import { v1Routes } from './v1/index.ts';
import { bookingRoutes, meetingRoutes } from './webhooks.ts';

export const routes = [
  ...conversationRoutes,
  ...editingRoutes,
  ...timelineRoutes,
  ...infosRoutes,
  ...questionRoutes,
  ...searchRoutes,
  ...browseRoutes,
  ...browseDirectoryRoutes,
  ...journeyRoutes,
  ...roomRoutes,
  ...bookingRoutes,
  ...meetingRoutes,
  ...audioRoutes,
  ...videoRoutes,
  ...authRoutes,
  ...v1Routes,
  ...opsRoutes,
  ...agentRoutes,
  ...mcpRoutes,
  ...docsRoutes,
  ...chatPageRoutes,
  ...consoleRoutes,
  ...transcriptRoutes,
];
