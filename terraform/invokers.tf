# Who may call which function, in front of what the function itself verifies.

locals {
  callers = merge(
    { for pair in setproduct(local.public_functions, var.invokers) : "${pair[0]} ${pair[1]}" => { function = pair[0], member = pair[1] } },
    { for name, row in local.function_table : "${name} eventarc" => { function = name, member = local.identities["eventarc"].member } if row.topic != null },
    { "check bootstraps" = { function = "check", member = local.identities["bootstraps"].member } },
    { for name, job in local.jobs : "${name} scheduler" => { function = name, member = local.identities["scheduler"].member } },
  )
}

# A function of the second generation is a service of Cloud Run, and that is where its callers are let in.
resource "google_cloud_run_v2_service_iam_member" "invoker" {
  for_each = local.callers

  project  = var.project_id
  location = var.region
  name     = google_cloudfunctions2_function.function[each.value.function].name
  role     = "roles/run.invoker"
  member   = each.value.member
}
