/** Shapes that several features share. */
import { Type } from '#libs/contract';

export const conversationId = Type.Integer({ description: 'Id of the conversation.' });
