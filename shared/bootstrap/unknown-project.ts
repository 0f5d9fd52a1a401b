/** A project that bears the labels of a deployment and has no record, as operators see it. The API and the CLI share this form. */
import * as z from 'zod';
import { text } from '../api.js';
import { TeamId } from '../organization/team-id.js';
import { PlanDocument } from './plan.js';

export const UnknownProject = z
  .object({
    projectId: text('Of the project', 'my-first-1a2b3c'),
    projectNumber: text("Google's number", '123456789012'),
    parent: text('Where it lies', 'folders/111111111111').optional(),
    labels: z
      .record(z.string(), z.string())
      .meta({ description: 'All that it bears', examples: [{ 'plinth-managed': 'true' }] }),
    proven: z.boolean().meta({ description: 'Its labels prove that this deployment made it', examples: [true] }),
    why: z.string().optional().meta({ description: 'Why plinth leaves it alone. Missing if it is proven' }),
    team: TeamId.optional().meta({ description: 'Number of the team that its labels prove', examples: [1571417718] }),
    formerTeam: TeamId.optional().meta({
      description: 'The same of a team that is gone, in place of `team`',
      examples: [1571417718],
    }),
    plan: PlanDocument.optional().meta({
      description: 'What its removal would take away. Missing unless it is proven',
    }),
  })
  .meta({ id: 'UnknownProject', description: 'A project with the labels of this deployment that no record knows' });
export type UnknownProject = z.infer<typeof UnknownProject>;
