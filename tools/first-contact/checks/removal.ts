/** The end of the project. These run in every case where one was made. */
import { Problem } from '../../../shared/problems.js';
import { type Check, differs, heldIf } from '../check.js';

export const removalChecks: readonly Check[] = [
  {
    id: 'removal.delete',
    believes: 'A deleted project shows DELETE_REQUESTED within a minute, and can still be read.',
    source: 'documented',
    async run({ cloud, project, until, facts }) {
      // A project that is still being made answers as one that is not there.
      const asked = await until(180, async () => {
        try {
          return await cloud.projects.remove(project);
        } catch (error) {
          if (error instanceof Problem && error.code === 'cloud-permission') return undefined;
          throw error;
        }
      });
      if (asked === undefined) return differs('the deletion was refused for three minutes');
      if (asked.value.failure !== undefined) throw asked.value.failure;
      const gone = await until(120, async () => {
        const found = await cloud.projects.get(project);
        return found?.state === 'DELETE_REQUESTED' ? true : undefined;
      });
      if (gone === undefined) return differs('still ACTIVE after two minutes');
      facts.set('removed', 'yes');
      return heldIf(gone.seconds <= 60, `after ${gone.seconds} s`);
    },
  },
  {
    id: 'removal.billing',
    believes: 'A deleted project keeps its billing link until it is unlinked.',
    source: 'documented',
    needs: ['removal.delete', 'billing.link'],
    async run({ ask, project }) {
      const { status, body, message } = await ask('cloudbilling', `GET /v1/projects/${project}/billingInfo`);
      const account = String(body['billingAccountName'] ?? '');
      return heldIf(
        status === 200 && account !== '',
        status === 200 ? `linked to ${account === '' ? 'nothing' : 'it'}` : `${status} ${message}`,
      );
    },
  },
  {
    id: 'removal.unlink',
    believes: 'A deleted project can be unlinked, so that it no longer counts at the billing account.',
    source: 'documented',
    needs: ['removal.delete'],
    async run({ cloud, project }) {
      const { billingAccountName = '' } = await cloud.billing.link(project, '');
      return heldIf(billingAccountName === '', billingAccountName === '' ? 'unlinked' : 'still linked');
    },
  },
];
