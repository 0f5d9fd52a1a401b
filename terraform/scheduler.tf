# What is called by the clock.

locals {
  jobs = {
    sweep = {
      job         = "plinth-sweep"
      schedule    = "* * * * *"
      description = "Sends again what is due: messages that were lost, leases of functions that died, waits that are over."
    }
    cleanup = {
      job         = "plinth-cleanup"
      schedule    = "*/5 * * * *"
      description = "Finds what is past its time and hands it to teardown. Paused and resumed by operators."
    }
  }
}

resource "google_cloud_scheduler_job" "job" {
  for_each = local.jobs

  project     = var.project_id
  region      = var.region
  name        = each.value.job
  description = each.value.description
  schedule    = each.value.schedule
  time_zone   = "Etc/UTC"
  # As long as the function may take, so that two runs never overlap.
  attempt_deadline = "${local.function_table[each.key].timeout}s"

  retry_config {
    # The next run comes soon enough.
    retry_count = 0
  }

  http_target {
    http_method = "POST"
    uri         = local.urls[each.key]

    oidc_token {
      service_account_email = local.identities["scheduler"].email
      # The function verifies it: its own URL is among its audiences.
      audience = local.urls[each.key]
    }
  }

  lifecycle {
    # Operators pause cleanup, and an apply in between must not wake it.
    ignore_changes = [paused]
  }

  depends_on = [google_cloudfunctions2_function.function]
}
