/** The console: who is signed in, where they are, and the view of it. */
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { BootstrapPage } from './bootstrap.js';
import { OrganizationPage } from './organization.js';
import { OrganizationsPage } from './organizations.js';
import { Title } from './parts.js';
import { ProjectsPage } from './projects.js';
import { useRoute } from './route.js';
import { begin, onStanding, type Standing, signIn, signOut, standingNow } from './session.js';
import { TeamPage } from './team.js';

const views = [
  { name: 'projects', title: 'Projects' },
  { name: 'organizations', title: 'Organizations' },
] as const;

const Wordmark = () => (
  <a class="wordmark" href="#/projects">
    <svg viewBox="0 0 32 32" width="20" height="20" aria-hidden="true">
      <path d="M7 8h18v4H7zM10 13h12v8H10zM5 22h22v4H5z" fill="currentColor" />
    </svg>
    plinth
  </a>
);

function Header({ standing, view }: { standing: Standing; view: string }) {
  return (
    <header>
      <Wordmark />
      {standing.is === 'in' && (
        <>
          <nav aria-label="Views">
            {views.map(({ name, title }) => (
              <a key={name} href={`#/${name}`} aria-current={view === name ? 'page' : undefined}>
                {title}
              </a>
            ))}
            <a href="/docs">API</a>
          </nav>
          <span class="who">{standing.email}</span>
          <button type="button" class="small" onClick={() => void signOut()}>
            Sign out
          </button>
        </>
      )}
    </header>
  );
}

function Door({ standing }: { standing: Standing }) {
  if (standing.is === 'asking') return <p class="awaited">Loading …</p>;
  if (standing.is === 'unknown') {
    return (
      <section class="door">
        <Title>plinth does not answer</Title>
        <p>{standing.why}</p>
        <button type="button" class="main" onClick={begin}>
          Try again
        </button>
      </section>
    );
  }
  return (
    <section class="door">
      <Title>Throw-away Google Cloud projects, removed on time</Title>
      <p role="status">{standing.is === 'out' && standing.why}</p>
      <button type="button" class="main" onClick={signIn}>
        Sign in
      </button>
      <p class="dim">You are led to your issuer, and come back here.</p>
    </section>
  );
}

function View({ route }: { route: readonly string[] }) {
  const [view = 'projects', id, more] = route;
  if (view === 'projects' && id === undefined) return <ProjectsPage />;
  if (view === 'projects' && id !== undefined) return <BootstrapPage key={id} id={id} />;
  if (view === 'organizations' && id === undefined) return <OrganizationsPage />;
  if (view === 'organizations' && id !== undefined && more === undefined) return <OrganizationPage key={id} id={id} />;
  if (view === 'teams' && id !== undefined && /^\d+$/.test(id)) return <TeamPage key={id} teamId={Number(id)} />;
  return (
    <section>
      <Title>There is no such place</Title>
      <p>
        The address leads nowhere. <a href="#/projects">Your projects</a> are here.
      </p>
    </section>
  );
}

function App() {
  const [standing, setStanding] = useState(standingNow);
  const route = useRoute();
  const view = route[0] === 'teams' ? 'organizations' : (route[0] ?? 'projects');
  useEffect(() => {
    const off = onStanding(setStanding);
    begin();
    return off;
  }, []);
  return (
    <>
      <button type="button" class="skip" onClick={() => document.querySelector<HTMLElement>('main h1')?.focus()}>
        To the content
      </button>
      <Header standing={standing} view={view} />
      <main id="main">{standing.is === 'in' ? <View route={route} /> : <Door standing={standing} />}</main>
    </>
  );
}

const app = document.getElementById('app');
if (app !== null) render(<App />, app);
