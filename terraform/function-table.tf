# The functions and what each needs: one row each; functions.tf makes them.

locals {
  # memory, cpu: as measured by `npm run bench`, with room. concurrency above 1 takes a whole CPU.
  # timeout: HTTP functions may have 60 minutes, those that hear events 9.
  # min: nothing is kept warm while nobody works; one that is saves half a second and costs 10 USD a month (docs/operate/cost.md). `sizes` changes it.
  function_table = {
    api = {
      topic       = null
      memory      = "512Mi"
      cpu         = "1"
      concurrency = 80 # waits for Firestore, hardly computes
      timeout     = 60 # the longest call, a migration of a team of 2,000, takes less than a second (docs/build/bench.md)
      min         = 0
      max         = 8 # 640 calls at once: a ceiling to the bill where anybody may knock
      ingress     = "ALLOW_ALL"
    }
    bootstraps = {
      topic       = null
      memory      = "512Mi"
      cpu         = "1"
      concurrency = 80  # one follower of a bootstrap holds one place for minutes
      timeout     = 600 # an event stream ends by itself after nine minutes, and the client comes back
      min         = 0
      max         = 8 # 640 followers and calls at once: a ceiling, as above; some new projects may have 32 instances in all
      ingress     = "ALLOW_ALL"
    }
    run-cloud-step = {
      topic       = "cloud"
      memory      = "1Gi" # 75 MB, 97 after a first call to Compute Engine; RSA keys are made here, and many steps work at once
      cpu         = "1"
      concurrency = 16  # waits for Google, but the RSA keys of a bootstrap take seconds of the one CPU
      timeout     = 540 # all that a function which hears events may have
      min         = 0
      max         = 10 # all that a new project may have of one CPU, and room for 160 messages at once, each with up to ten steps; those beyond that wait in Pub/Sub
      ingress     = "ALLOW_INTERNAL_ONLY"
    }
    run-host-step = {
      topic       = "host"
      memory      = "1Gi"
      cpu         = "1"
      concurrency = 40 # waits for machines; connections to one bootstrap's jumpbox are shared within an instance,
      timeout     = 540
      min         = 0
      max         = 2 # so few instances, or a jumpbox sees as many connections as there are instances
      ingress     = "ALLOW_INTERNAL_ONLY"
    }
    sweep = {
      topic       = null
      memory      = "512Mi"
      cpu         = "1"
      concurrency = 1   # two at once would only send the same again
      timeout     = 120 # a webhook that does not answer takes 50 seconds of a run (100 messages, 20 at once, ten seconds each)
      min         = 0
      max         = 1
      ingress     = "ALLOW_INTERNAL_ONLY"
    }
    cleanup = {
      topic       = null
      memory      = "512Mi"
      cpu         = "1"
      concurrency = 2   # a run that asks for the next one has not answered yet when that comes
      timeout     = 300 # looks at 500 records and a page of projects; the next run takes over
      min         = 0
      max         = 1 # a second one would look at the same
      ingress     = "ALLOW_INTERNAL_ONLY"
    }
    check = {
      topic       = null
      memory      = "512Mi"
      cpu         = "1"
      concurrency = 40 # waits for Google: some ten calls side by side for each request
      timeout     = 60 # `bootstraps` waits for 15 seconds
      min         = 0
      # 80 checks at once.
      max = 2
      # Without a VPC, a call of another function is none from within. invokers.tf lets in `bootstraps` alone.
      ingress = "ALLOW_ALL"
    }
  }

  # The function's account. Google's testIamPermissions answers only for the account that asks, so `check` asks as the one that
  # will do the work.
  account_of = { for name in keys(local.function_table) : name => name == "check" ? "run-cloud-step" : name }

  # Known before anything is made: they are among each function's own settings.
  urls = { for name in keys(local.function_table) : name => "https://${name}-${data.google_project.plinth.number}.${var.region}.run.app" }
}
