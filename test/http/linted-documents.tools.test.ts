/** A linter that nobody here wrote finds nothing in the OpenAPI documents, by all the rules that it recommends. */
import { expect } from 'chai';
import { bootstrapsApi } from '../../functions/http/bootstraps/api.js';
import { openApiDocument } from '../../functions/http/openapi/openapi.js';
import { organizationsApi } from '../../functions/http/organizations/api.js';
import { type ClientFolder, clientFolder } from './client-folder.js';

describe('a linter of OpenAPI documents', () => {
  let linter: ClientFolder;
  before(async () => {
    linter = clientFolder('linter');
    await linter.npmCi();
  });
  after(() => linter?.remove());

  it('finds nothing in both, and what is wrong in a damaged one', async () => {
    const lint = () => linter.run('npm', ['run', '-s', 'lint']);
    linter.write('organizations.json', JSON.stringify(openApiDocument(organizationsApi)));
    linter.write('bootstraps.json', JSON.stringify(openApiDocument(bootstrapsApi)));
    expect(await lint()).to.equal('');
    const { info: _, ...damaged } = openApiDocument(bootstrapsApi) as Readonly<Record<string, unknown>>;
    linter.write('bootstraps.json', JSON.stringify(damaged));
    expect(await lint()).to.contain('bootstraps.json: struct:');
  });
});
